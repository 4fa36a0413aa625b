import type { RefObject } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

/** Width of an element in pixels, followed as it changes; 0 until it is known, and while the page is hidden. */
export function useWidth<T extends HTMLElement>(): [RefObject<T | null>, number] {
  const element = useRef<T>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const { current } = element;
    if (current === null) return;
    const look = () => {
      const now = Math.floor(current.clientWidth);
      // A tab that TensorBoard hides has no size: keep what was, for the moment it comes back.
      if (now > 0) setWidth(now);
    };
    const observer = new ResizeObserver(look);
    observer.observe(current);
    look();
    return () => observer.disconnect();
  }, []);
  return [element, width];
}

/** Height of the window, followed as it changes; the last one known while the page is hidden. */
export function useWindowHeight(): number {
  const [height, setHeight] = useState(window.innerHeight || 800);
  useLayoutEffect(() => {
    const look = () => {
      if (window.innerHeight > 0) setHeight(window.innerHeight);
    };
    window.addEventListener("resize", look);
    return () => window.removeEventListener("resize", look);
  }, []);
  return height;
}
