// Answers requests by the engine in WebAssembly: `node web_answers.mjs ENGINE.js ENGINE.wasm REQUESTS ANSWERS`. Both files hold
// JSON, a line each; a request has `request`, and `body` in base64, or a `file` with `from` and `to`.
import { readFileSync, writeFileSync } from "node:fs";

const [source, wasm, requests, answers] = process.argv.slice(2);
const Engine = new Function(`${readFileSync(source, "utf8")}; return Engine;`)();
let engine = await Engine.start(readFileSync(wasm));
const told = [];
const files = new Map();

function kept(file) {
  if (!files.has(file)) files.set(file, readFileSync(file));
  return files.get(file);
}

for (const line of readFileSync(requests, "utf8").split("\n").filter(Boolean)) {
  const { request, body, file, from, to } = JSON.parse(line);
  const bytes = file ? kept(file).subarray(from, to) : Buffer.from(body || "", "base64");
  const begun = process.cpuUsage();
  let answer;
  try {
    answer = engine.ask(request, bytes);
  } catch (error) {
    answer = { error: error.message };
    if (error.message.startsWith("fault:")) engine = await Engine.start(readFileSync(wasm));
  }
  const { user, system } = process.cpuUsage(begun);
  const shown = (_, value) => (ArrayBuffer.isView(value) ? { length: value.length, sum: value.reduce((a, b) => a + b, 0) } : value);
  told.push(JSON.stringify({ ...answer, cpu_s: (user + system) / 1e6 }, shown));
}
writeFileSync(answers, told.join("\n"));
