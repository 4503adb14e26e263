// The worker's loop. The first message brings the engine, and each later one a request.
let engine = null;
onmessage = async ({ data: { id, wasm, request, body } }) => {
  try {
    if (wasm) {
      engine = await Engine.start(wasm);
      postMessage({ id });
      return;
    }
    const answer = engine.ask(request, body);
    const buffers = new Set();
    (function gather(value) {
      if (ArrayBuffer.isView(value)) buffers.add(value.buffer);
      else if (value && typeof value === "object") Object.values(value).forEach(gather);
    })(answer);
    postMessage({ id, answer }, [...buffers]);
  } catch (error) {
    postMessage({ id, error: error.message, ended: error.message.startsWith("fault:") });
  }
};
