import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

/** A button that opens a panel; Escape and a click elsewhere close it. */
export function Menu({
  label,
  children,
  wide = false,
  title,
  id,
}: {
  label: ComponentChildren;
  children: ComponentChildren | ((close: () => void) => ComponentChildren);
  wide?: boolean;
  title?: string;
  /** Of the button. */
  id?: string;
}) {
  const [open, setOpen] = useState(false);
  const host = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const close = () => setOpen(false);
  useEffect(() => {
    if (!open) return;
    const outside = (event: Event) => {
      if (!host.current?.contains(event.target as Node)) close();
    };
    document.addEventListener("pointerdown", outside);
    return () => document.removeEventListener("pointerdown", outside);
  }, [open]);
  return (
    <div
      ref={host}
      class="menu"
      onKeyDown={(event) => {
        if (event.key !== "Escape" || !open) return;
        event.stopPropagation();
        close();
        button.current?.focus();
      }}
    >
      <button
        ref={button}
        id={id}
        type="button"
        aria-expanded={open}
        title={title}
        onClick={() => setOpen(!open)}
      >
        {label} <span class="caret" aria-hidden="true" />
      </button>
      {open && (
        <div class={wide ? "menu-panel wide" : "menu-panel"}>
          {typeof children === "function" ? children(close) : children}
        </div>
      )}
    </div>
  );
}
