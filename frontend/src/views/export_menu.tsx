import { chosenRun, runAnswer, shownExtent, viewportOf } from "../store/selectors";
import { useApp } from "./context";
import { copyText, download } from "./download";
import { Menu } from "./menu";
import { pictureOf } from "./picture";

/** What a CSV holds at most of the steps: the finest that the server draws. */
const CSV_COLUMNS = 4096;

/** The report as Markdown, the picture as PNG, the numbers as CSV. */
export function ExportMenu() {
  const { session } = useApp();
  const { slots, client } = session;

  const current = () => {
    const run = chosenRun(session.store.get(), slots);
    const answer = run === null ? null : runAnswer(slots, run);
    const extent = shownExtent(session.store.get(), slots);
    return answer === null || extent === null ? null : { answer, view: viewportOf(session.view, extent) };
  };
  const copyReport = async () => {
    const now = current();
    if (now === null) return;
    try {
      const text = await client.report(now.answer.run, AbortSignal.timeout(30_000));
      session.notify((await copyText(text)) ? "Report copied as Markdown" : "Report downloaded as Markdown");
    } catch (error) {
      session.notify(`No report: ${error instanceof Error ? error.message : String(error)}`);
    }
  };
  const savePicture = async () => {
    const now = current();
    const page = document.querySelector<HTMLElement>(".heat-host");
    if (now === null || page === null) return;
    const blob = await pictureOf(page, now.answer.sentence, session.store.get().dark);
    if (blob !== null) download(blob, `${fileStem(now.answer.run)}.png`);
  };
  const addresses = () => {
    const now = current();
    if (now === null) return [];
    return now.answer.groups.map((group) => ({
      name: group.name,
      href: client.tableAddress(
        {
          run: now.answer.run,
          group: group.name,
          range: now.view.range,
          columns: CSV_COLUMNS,
          metric: session.view.metric,
          replica: session.view.replica,
        },
        session.view.keep,
      ),
      file: `${fileStem(now.answer.run)}-${fileStem(group.name)}.csv`,
    }));
  };
  return (
    <Menu label="Export">
      {(close: () => void) => (
        <div class="menu-list">
          <button type="button" class="plain" onClick={() => copyReport().then(close)}>
            Copy report as Markdown
          </button>
          <button type="button" class="plain" onClick={() => savePicture().then(close)}>
            Save picture as PNG
          </button>
          {addresses().map(({ name, href, file }) => (
            <a key={name} href={href} download={file} onClick={close}>
              Save numbers of {name} as CSV
            </a>
          ))}
          <button
            type="button"
            class="plain"
            onClick={() =>
              copyText(session.host.location.href).then((copied) => {
                session.notify(copied ? "Link copied" : "The address bar has the link");
                close();
              })
            }
          >
            Copy link to this view
          </button>
        </div>
      )}
    </Menu>
  );
}

function fileStem(name: string): string {
  return name.replaceAll(/[^\w.-]+/g, "_").slice(0, 80) || "gradhealth";
}
