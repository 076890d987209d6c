// Sends JSON to the server and tells what kind of trouble there was, if any.
const PATIENCE = 10_000;

export class Trouble extends Error {
  // `again`: trying once more makes sense. `kind`: offline, signed-out, not-yours, refused.
  constructor(kind, { again = false, error = "", sentence = "" } = {}) {
    super(sentence || kind);
    Object.assign(this, { kind, again, error, sentence });
  }
}

// In a market's frame there are none, and asking may be an error.
function cookies() {
  try {
    return document.cookie.split("; ");
  } catch {
    return [];
  }
}

export class Transport {
  constructor(config) {
    this.urls = config.urls;
    this.cookie = config.csrfCookie;
  }

  put(draft) {
    return this.send(this.urls.draft, "PUT", draft);
  }

  post(submission) {
    return this.send(this.urls.submit, "POST", submission);
  }

  // While the page goes away: small enough for the browser to finish it alone.
  sendOnLeave(draft) {
    const body = JSON.stringify(draft);
    if (body.length < 60_000) this.request(this.urls.draft, "PUT", body, { keepalive: true }).catch(() => {});
  }

  // The token is read from the cookie each time: it survives an idle night and a new sign-in in another tab.
  token() {
    const cookie = cookies().find((cookie) => cookie.startsWith(`${this.cookie}=`));
    return cookie ? decodeURIComponent(cookie.slice(this.cookie.length + 1)) : "";
  }

  request(url, method, body, options = {}) {
    const headers = { "Content-Type": "application/json", "X-CSRFToken": this.token() };
    return fetch(url, { method, body, headers, credentials: "same-origin", redirect: "manual", ...options });
  }

  async send(url, method, content) {
    let response;
    try {
      response = await this.request(url, method, JSON.stringify(content), { signal: AbortSignal.timeout(PATIENCE) });
      if (response.ok) return await response.json(); // it may be cut off on the way
    } catch {
      throw new Trouble("offline", { again: true });
    }
    if (response.status >= 500 || response.status === 429) throw new Trouble("offline", { again: true });
    const byAccount = this.urls.signIn !== undefined; // otherwise a token in the address decides
    if (byAccount && (response.status === 401 || response.status === 403 || response.type === "opaqueredirect")) {
      throw new Trouble("signed-out", { again: true });
    }
    const { error = "", sentence = "" } = await response.json().catch(() => ({}));
    if (byAccount && response.status === 404) throw new Trouble("not-yours", { again: true, error, sentence });
    throw new Trouble("refused", { error, sentence });
  }
}
