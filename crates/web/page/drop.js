// Captures, read piece by piece in a separate worker. The worker ends with each file and frees its
// memory. Nothing leaves the page: its policy forbids every connection.
const drop = (() => {
  "use strict";

  const PIECE = 1 << 20;
  const MOST_BYTES = 2 ** 30;
  const MOST_ROWS = 500;
  const REACTIONS = { undone: "undone", "not-undone": "not undone" };
  const COPIES = [["eifel-timestamps", "rfc4015"], ["f-rto-sack", "rfc4015"], ["dsack", "rfc3708"], ["none", "none"]];

  function start({ wasm, source, registry, example }) {
    const $ = (id) => document.getElementById(id);
    const { element } = menus;
    let open = null;

    const tell = (text, bad = false) => {
      $("drop-said").textContent = text;
      $("drop-said").className = bad ? "outside" : "dim";
    };

    // Yields the file's decompressed bytes in pieces. Calls `told` with the number of stored bytes
    // read.
    async function* pieces(file, told) {
      const magic = new Uint8Array(await file.slice(0, 4).arrayBuffer());
      if (magic[0] === 0x28 && magic[1] === 0xb5 && magic[2] === 0x2f) throw new Error(`${file.name}: compressed by zstd; expected pcap, pcapng, snoop, gzip or qlog`);
      const gzip = magic[0] === 0x1f && magic[1] === 0x8b;
      let read = 0;
      const counted = new TransformStream({ transform(chunk, out) { read += chunk.length; out.enqueue(chunk); } });
      let stream = file.stream().pipeThrough(counted);
      if (gzip) stream = stream.pipeThrough(new DecompressionStream("gzip"));
      const reader = stream.getReader();
      let held = [], size = 0;
      try {
        for (;;) {
          const { done, value } = await reader.read();
          if (value) { held.push(value); size += value.length; }
          if (size >= PIECE || (done && size)) {
            const piece = new Uint8Array(size);
            let at = 0;
            for (const one of held) { piece.set(one, at); at += one.length; }
            held = [];
            size = 0;
            told(read);
            yield piece;
          }
          if (done) return;
        }
      } catch (error) {
        throw gzip && error instanceof TypeError ? new Error(`${file.name}: the gzip stream is damaged or cut off`) : error;
      } finally {
        reader.cancel().catch(() => {});
      }
    }

    // Reads the open file once. Returns the worker's answer at its end.
    async function pass(one, each = () => {}) {
      const begun = performance.now();
      $("drop-progress").hidden = $("drop-cancel").hidden = false;
      try {
        for await (const piece of pieces(one.file, (read) => { $("drop-progress").value = one.file.size ? read / one.file.size : 1; })) {
          const answer = await one.remote.ask({ ask: "feed" }, piece);
          each(answer);
          if (open !== one) throw new Error("stopped");
          tell(`${one.file.name}: ${answer.frames} frames`);
        }
        const answer = await one.remote.ask({ ask: "finish" });
        one.took = (performance.now() - begun) / 1000;
        each(answer);
        return answer;
      } finally {
        $("drop-progress").hidden = $("drop-cancel").hidden = true;
      }
    }

    async function take(file) {
      close();
      $("found").replaceChildren();
      if (file.size > MOST_BYTES) {
        tell(`${file.name}: ${words.bytes(file.size)}; expected at most ${words.bytes(MOST_BYTES)} (the command line takes any size)`, true);
        return;
      }
      const one = open = { file, remote: new Remote(wasm, source) };
      tell(`${file.name}: begins`);
      try {
        await one.remote.ask({ ask: "open", name: file.name });
        const answer = await pass(one);
        one.report = JSON.parse(answer.report);
        tell(`${file.name}: read in ${one.took.toFixed(2)} s`);
        show(one, answer);
      } catch (error) {
        if (open === one) {
          tell(error.message, error.message !== "stopped");
          close();
        }
      }
    }

    function close() {
      if (open) open.remote.end();
      open = null;
    }

    function table(titles, rows, label) {
      const head = element("tr", {}, ...titles.map((title) => element("th", { textContent: title })));
      const body = rows.map((cells) => element("tr", {}, ...cells.map((cell) => element("td", {}, cell instanceof Node ? cell : String(cell ?? "")))));
      const made = element("table", {}, element("thead", {}, head), element("tbody", {}, ...body));
      made.setAttribute("aria-label", label);
      return element("div", { className: "scroll" }, made);
    }

    function button(text, act) {
      const made = element("button", { type: "button", textContent: text, className: "take" });
      made.addEventListener("click", () => act(made));
      return made;
    }

    function save(name, parts, type) {
      const link = element("a", { href: URL.createObjectURL(new Blob(parts, { type })), download: name });
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
    }

    // On a narrow screen its lines break, but those of the table of causes, which scrolls.
    function summary(said) {
      const rows = said.match(/^  cause .*\n(?:  \S+ +\d.*\n)*/m), begin = rows ? rows.index : 0, end = begin + (rows ? rows[0].length : 0);
      const parts = [said.slice(0, begin), rows && element("span", { textContent: rows[0], className: "rows", tabIndex: 0 }), said.slice(end)];
      return element("pre", { id: "summary" }, ...parts.filter(Boolean));
    }

    // Says all in the words of `eifel analyze`, which the engine has written.
    function show(one, answer) {
      const { report } = one, found = $("found");
      const annotated = button("Save with comments (pcapng)", () => again(one, { for: "annotated" }, (bytes) => save(`${one.file.name}.verdicts.pcapng`, bytes, "application/octet-stream")));
      found.replaceChildren(
        element("p", { textContent: report.headline, id: "total", className: "see" }),
        summary(answer.text.slice(answer.text.indexOf("\n\n") + 2)),
        element("p", {}, ...(report.quic ? [] : [annotated]), button("Save as JSON", () => save(`${one.file.name}.json`, [answer.report], "application/json"))),
      );
      if (report.quic) return;
      const { directions } = answer.words, counted = answer.counted.map((place) => report.retransmissions[place]);
      if (!counted.length) return;
      found.append(element("h3", { textContent: words.count(directions.length, "direction") + " with retransmissions" }));
      found.append(table(["connection", "sender → receiver", "retransmissions", "where seen, and cost", ""], directions.slice(0, MOST_ROWS).map(({ connection, sender, lines }) => {
        const of = report.connections.find((known) => known.connection === connection), ends = [of.client, of.server].map(String);
        if (sender === "server") ends.reverse();
        const graph = button("graph", () => draw(one, { connection, server: sender === "server", rows: report.retransmissions.filter((row) => row.connection === connection && row.sender === sender) }));
        return [connection, ends.join(" → "), lines[0], lines.slice(1).join("; "), graph];
      }), "Connections"));
      found.append(element("div", { id: "graph" }));
      found.append(element("h3", { textContent: words.count(counted.length, "retransmission") }));
      found.append(table(["frame", "connection", "cause", "verdict", "confidence", "reason", "shown by", "sender's reaction"], counted.slice(0, MOST_ROWS).map((row) => [
        row.frame, row.connection, row.other_cause ? `${row.cause} or ${row.other_cause}` : row.cause, row.verdict, row.confidence, row.reason, row.evidence_frame ? `frame ${row.evidence_frame}` : "", REACTIONS[row.stack_noticed],
      ]), "Retransmissions"));
      const more = counted.length - MOST_ROWS;
      if (more > 0) found.append(element("p", { className: "dim", textContent: `${more} more in the JSON.` }));
    }

    // Reads the file's bytes again for another request.
    async function again(one, request, done) {
      const bytes = [];
      try {
        await one.remote.ask({ ask: "again", ...request });
        const answer = await pass(one, (part) => { if (part.bytes) bytes.push(part.bytes); });
        tell(`${one.file.name}: read in ${one.took.toFixed(2)} s`);
        done(bytes, answer);
      } catch (error) {
        tell(error.message, error.message !== "stopped");
      }
    }

    function draw(one, { connection, server, rows }) {
      const place = { connection, from_server: server };
      again(one, { for: "graph", ...place }, (_, { graph }) => {
        const figure = element("figure", { className: "chart" });
        figure.setAttribute("aria-label", `Time and sequence of connection ${connection}`);
        const predicted = element("div", { id: "predicted" });
        $("graph").replaceChildren(figure, button("Try other detectors on this path", (made) => { made.disabled = true; predict(one, place, predicted, made); }), predicted);
        const verdicts = new Map(rows.map((row) => [row.frame, row.verdict]));
        figure.chart = new Chart(figure, captured.chart(graph, (row) => verdicts.get(graph.frame[row])));
        figure.scrollIntoView({ block: "nearest" });
      });
    }

    function predict(one, place, box, made) {
      const senders = COPIES.filter(([name]) => registry.some((entry) => entry.seam === "detect" && entry.name === name))
        .map(([detect, respond]) => ({ name: `${detect}, ${respond}`, changes: { "sender.detect": detect, "sender.respond": respond } }));
      again(one, { for: "whatif", ...place, senders }, (_, answer) => {
        const said = element("pre", { textContent: answer.text });
        said.setAttribute("aria-label", "Prediction");
        box.replaceChildren(said);
      }).finally(() => { made.disabled = false; });
    }

    const area = $("drop");
    for (const name of ["dragover", "dragenter"]) area.addEventListener(name, (event) => { event.preventDefault(); area.classList.add("over"); });
    for (const name of ["dragleave", "drop"]) area.addEventListener(name, () => area.classList.remove("over"));
    area.addEventListener("drop", (event) => { event.preventDefault(); if (event.dataTransfer.files[0]) take(event.dataTransfer.files[0]); });
    $("file").addEventListener("change", () => {
      const [file] = $("file").files;
      // Lets the same file be chosen again.
      $("file").value = "";
      if (file) take(file);
    });
    $("drop-cancel").addEventListener("click", () => { close(); tell("stopped"); });
    // A run of the simulator, as captured at its sender.
    $("example").addEventListener("click", async () => {
      const maker = new Remote(wasm, source);
      try {
        const { pcapng } = await maker.ask({ ask: "capture" }, new TextEncoder().encode(JSON.stringify(example)));
        await take(new File([pcapng], "example.pcapng"));
      } catch (error) {
        tell(error.message, true);
      } finally {
        maker.end();
      }
    });
    return { take };
  }

  return { start };
})();
