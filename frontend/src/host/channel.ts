/**
 * TensorBoard's side channel: what a plugin's frame may learn from the page around it.
 *
 * Messages are JSON over a MessageChannel that the frame hands to its parent. Outside TensorBoard nothing answers, and
 * nothing breaks.
 */

interface Message {
  readonly type: string;
  readonly id: number;
  readonly payload?: unknown;
  readonly error: string | null;
  readonly isReply: boolean;
}

export interface HostListener {
  /** The user pressed reload, or TensorBoard reloads by itself. */
  reloaded(): void;
  runsChanged(): void;
}

const LISTENERS: Readonly<Record<string, keyof HostListener>> = {
  "experimental.DataReloaded": "reloaded",
  "experimental.RunsChanged": "runsChanged",
};

/** Connects to the page around the frame. Returns a function that ends the connection. */
export function connect(parent: Window, listener: HostListener): () => void {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = ({ data }) => {
    const message = parse(data);
    if (message === null || message.isReply) return;
    const name = LISTENERS[message.type];
    if (name !== undefined) listener[name]();
    port1.postMessage(JSON.stringify({ ...message, payload: null, error: null, isReply: true }));
  };
  // The port itself is the secret: whoever holds it may only tell us to reload.
  parent.postMessage("experimental.bootstrap", "*", [port2]);
  return () => port1.close();
}

function parse(data: unknown): Message | null {
  try {
    const message = JSON.parse(String(data));
    return typeof message?.type === "string" ? message : null;
  } catch {
    return null;
  }
}
