// Properties are tried on the same cases each time, so that a change is judged by what it changed. FETTLE_SEED=N tries
// others; what fails prints its seed, its path and why.

import fc from "fast-check";

const asked = /^-?\d+$/.exec(process.env["FETTLE_SEED"] ?? "");
fc.configureGlobal({ seed: asked === null ? 20_261_115 : Number(asked[0]), includeErrorInReport: true });
