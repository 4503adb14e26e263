// An engine in a worker, so that the page never blocks. `ask` returns a promise; `end` stops the
// worker at once and frees its memory.
class Remote {
  constructor(wasm, source) {
    this.waiting = new Map();
    this.number = 0;
    this.worker = new Worker(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
    this.worker.onmessage = ({ data }) => {
      const { done, failed } = this.waiting.get(data.id);
      this.waiting.delete(data.id);
      if (data.ended) this.end();
      if (data.error) failed(new Error(data.error)); else done(data.answer);
    };
    this.ready = this.post({ wasm });
  }

  post(message, transfer = []) {
    return new Promise((done, failed) => {
      const id = ++this.number;
      this.waiting.set(id, { done, failed });
      this.worker.postMessage({ id, ...message }, transfer);
    });
  }

  async ask(request, body) {
    await this.ready;
    return this.post({ request, body }, body ? [body.buffer] : []);
  }

  end() {
    this.ended = true;
    this.worker.terminate();
    for (const { failed } of this.waiting.values()) failed(new Error("stopped"));
    this.waiting.clear();
  }
}
