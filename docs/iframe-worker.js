// Search in a site that is opened from a folder: there a browser refuses the worker that searches.
// The theme starts it by `new Worker(url)`; here the same script runs in a hidden frame.
if (location.protocol === "file:") {
  window.Worker = window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe"), script = document.createElement("script");
      script.src = url;
      frame.hidden = true;
      frame.answer = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      frame.srcdoc = `<script>postMessage = (data) => frameElement.answer(data);</script>${script.outerHTML}`;
      this.inside = new Promise((done) => { frame.onload = () => done(frame.contentWindow); });
      document.body.append(frame);
    }

    postMessage(data) {
      this.inside.then((inside) => inside.dispatchEvent(new inside.MessageEvent("message", { data })));
    }
  };
}
