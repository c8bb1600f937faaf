// Polls whether the server has reloaded its files, so that the page can reload too.

import {ask, forgetSent, isFile} from "./source.js";

const BETWEEN_LOOKS = 1000;  // ms

// Calls changed() after each change, and problem(text) if files can no longer be read, or the
// server is gone.
export function followFiles(changed, problem) {
  if (isFile) return;
  let version, told;
  const tell = (text) => {
    if (text && text !== told) problem(text);
    told = text;
  };
  const look = async () => {
    try {
      const now = await ask("version");
      if (version !== undefined && now.version !== version) {
        forgetSent();
        await changed();
      }
      version = now.version;
      tell(now.problem);
    } catch (error) {
      tell(error instanceof TypeError ? "grapnel has ended: what is not loaded yet cannot be shown."
        : error.message);
    }
    setTimeout(look, BETWEEN_LOOKS);
  };
  look();
}
