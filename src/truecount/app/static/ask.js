// Asking the server: a token in a header, short requests, and of several questions only the newest counts.

const KEY = "truecount-token";
const PATIENCE = 400; // milliseconds that an older question may still take before it is stopped

export function takeToken() {
  const address = new URL(location.href);
  const given = address.searchParams.get("token");
  if (!given) return;
  keepToken(given);
  address.searchParams.delete("token");
  history.replaceState(history.state, "", address.pathname + address.search + address.hash);
}

export const keepToken = (token) => localStorage.setItem(KEY, token);

export class Refused extends Error {}

async function send(path, body, { signal, keepalive } = {}) {
  const headers = { Authorization: `Bearer ${localStorage.getItem(KEY) || ""}` };
  const answer = await fetch(path, { method: "POST", body, headers, signal, keepalive, cache: "no-store" });
  if (answer.status === 401) {
    document.dispatchEvent(new CustomEvent("token-needed"));
    throw new Refused("The token is missing or belongs to an earlier run.");
  }
  return answer;
}

const running = new Set();
const name = () => Array.from(crypto.getRandomValues(new Uint8Array(12)), (each) => each.toString(16).padStart(2, "0")).join("");
const stop = (job) => send("/api/stop", JSON.stringify({ job }), { keepalive: true }).catch(() => {});
const pause = (wait) => new Promise((done) => { setTimeout(done, wait); });

window.addEventListener("pagehide", () => { for (const job of running) stop(job); });

// A task is asked for, and then asked after in short requests until it is done; who gives it up says so.
async function done(task, values, { signal, progress = () => {} }) {
  const job = name();
  const give = () => { if (running.delete(job)) stop(job); };
  running.add(job);
  signal?.addEventListener("abort", give);
  let answer = await send(`/api/${task}?job=${job}`, JSON.stringify(values), { signal });
  for (let wait = 40; ; wait = Math.min(400, 1.6 * wait)) {
    const isFile = answer.headers.has("content-disposition");
    const told = isFile ? { file: await answer.blob() } : answer.ok ? await answer.json()
      : { error: { argument: "", message: (await answer.text()).trim() || "The server gave no answer." } };
    if (told.progress === undefined) {
      running.delete(job);
      return told;
    }
    if (told.progress) progress(told.progress);
    await pause(wait);
    signal?.throwIfAborted();
    answer = await send("/api/job", JSON.stringify({ job }), { signal });
  }
}

export async function ask(task, values, how = {}) {
  if (task !== "start") return done(task, values, how);
  return { result: await (await send("/api/start", "{}")).json() };
}

export function upload(file, { signal, progress }) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", `/api/upload?name=${encodeURIComponent(file.name)}`);
    request.setRequestHeader("Authorization", `Bearer ${localStorage.getItem(KEY) || ""}`);
    request.responseType = "json";
    request.upload.onprogress = (event) => progress({ what: "sending", share: event.loaded / event.total });
    request.onload = () => {
      if (request.status === 200) resolve(request.response.place);
      else reject(new Refused(request.response?.error?.message || "The file was refused."));
    };
    request.onerror = () => reject(new Refused("The file was refused, or the server ended."));
    request.onabort = () => reject(new DOMException("stopped", "AbortError"));
    signal.addEventListener("abort", () => request.abort());
    request.send(file);
  });
}

export const forget = (place) => send("/api/forget", JSON.stringify({ place }), { keepalive: true }).catch(() => {});

export async function save(values, format) {
  const told = await done("save", { ...values, format }, {});
  if (!told.file) throw new Refused(told.error?.message || "The file could not be made.");
  const link = document.createElement("a");
  link.href = URL.createObjectURL(told.file);
  link.download = `truecount.${format}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

// One place on the page: at most one question is under way; a newer one waits for a moment and then stops it, and what
// is answered to an older one is never shown.
export class Newest {
  #number = 0;
  #running = null;
  #waiting = null;

  constructor(work, { show, busy = () => {}, progress = () => {} }) {
    Object.assign(this, { work, show, busy, progress });
  }

  ask(values) {
    const job = { number: ++this.#number, values };
    if (this.#running) {
      this.#waiting = job;
      const { controller, started } = this.#running;
      const left = Math.max(0, PATIENCE - (performance.now() - started));
      this.#running.timer ??= setTimeout(() => controller.abort(), left);
      return;
    }
    this.#start(job);
  }

  stop() {
    this.#number += 1;
    this.#waiting = null;
    this.#running?.controller.abort();
  }

  get isBusy() { return this.#running !== null; }

  async #start(job) {
    const controller = new AbortController();
    this.#running = { controller, started: performance.now(), timer: null };
    this.busy(true);
    let told = null;
    try {
      told = await this.work(job.values, { signal: controller.signal, progress: this.progress });
    } catch (error) {
      if (!controller.signal.aborted) told = { error: { argument: "", message: error.message || String(error) } };
    }
    clearTimeout(this.#running.timer);
    this.#running = null;
    if (told && job.number === this.#number) this.show(told, job.values);
    const next = this.#waiting;
    this.#waiting = null;
    if (next) this.#start(next);
    else this.busy(false);
  }
}
