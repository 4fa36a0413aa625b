/** Taking things out of the page. */

/** Whether the text is on the clipboard now; if the browser forbids that, it is downloaded instead. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    if (copyByCommand(text)) return true;
    download(new Blob([text], { type: "text/markdown" }), "gradhealth.md");
    return false;
  }
}

/** The old way still works where a page has no right to the clipboard: plain http, or a frame of a notebook. */
function copyByCommand(text: string): boolean {
  const area = document.createElement("textarea");
  area.value = text;
  area.style.position = "fixed";
  area.style.opacity = "0";
  document.body.append(area);
  area.select();
  const copied = document.execCommand("copy");
  area.remove();
  return copied;
}

export function download(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
