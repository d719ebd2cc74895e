// A page that is opened as a file cannot start a worker: there, the search runs in a hidden frame.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.answer = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      frame.srcdoc =
        "<script>window.postMessage = (data) => frameElement.answer(data);</script>" +
        `<script src="${url}"></script>`;
      this.loaded = new Promise((resolve) => frame.addEventListener("load", () => resolve(frame.contentWindow)));
      document.addEventListener("DOMContentLoaded", () => document.body.append(frame));
      if (document.body) document.body.append(frame);
    }

    postMessage(data) {
      this.loaded.then((inner) => inner.dispatchEvent(new inner.MessageEvent("message", { data })));
    }

    terminate() {}
  };
}
