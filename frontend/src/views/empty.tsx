import type { ComponentChildren } from "preact";
import { plural } from "../lib/format";
import { useApp } from "./context";
import { copyText } from "./download";
import { VerdictGlyph } from "./glyph";

const USE = `import tb_gradhealth

# Keras
model.fit(x, y, callbacks=[tb_gradhealth.GradHealthCallback("logs/run1")])

# or a training loop of your own
optimizer = tb_gradhealth.watch(optimizer, "logs/run1")`;

function Message({
  title,
  watch = false,
  children,
}: {
  title: string;
  watch?: boolean;
  children: ComponentChildren;
}) {
  return (
    <main class="empty" id="gradhealth-page">
      <VerdictGlyph of={watch ? "watch" : "begun"} size={34} />
      <h1>{title}</h1>
      {children}
    </main>
  );
}

export function Loading() {
  return (
    <Message title="Reading the log directory…">
      <p>Large logs take a moment the first time.</p>
    </Message>
  );
}

/** Nothing of ours in the log directory: say what to write, and where. */
export function NoData({ others }: { others: number }) {
  const { session } = useApp();
  const copy = async () => session.notify((await copyText(USE)) ? "Copied" : "Downloaded");
  return (
    <Message title={others === 0 ? "No runs yet" : "No gradient health records yet"}>
      <p>
        {others === 0
          ? "TensorBoard found no runs in its log directory. Train with one more line, into a folder below that directory:"
          : `${plural(others, "run")} found, none with gradient health records. One more line in the training writes them:`}
      </p>
      <div class="snippet">
        <pre tabIndex={0}>
          <code>{USE}</code>
        </pre>
        <button type="button" onClick={copy}>
          Copy
        </button>
      </div>
      <p class="muted">This page fills by itself as soon as the first step is written.</p>
    </Message>
  );
}

/** The run has begun and holds no step yet. */
export function JustBegun({ variables }: { variables: number }) {
  return (
    <div class="card quiet">
      <VerdictGlyph of="begun" size={20} />
      <p>
        The training has begun: {plural(variables, "variable")} will be watched. The first step appears here
        as soon as it is written.
      </p>
    </div>
  );
}

/** The run's records are there, but not to be had. */
export function RunFailed({
  title,
  message,
  children,
}: {
  title: string;
  message: string;
  children?: ComponentChildren;
}) {
  return (
    <Message title={title} watch>
      <p>{message}</p>
      {children}
    </Message>
  );
}
