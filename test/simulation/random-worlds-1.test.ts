import { playWorlds } from "./random-worlds.ts";

playWorlds(0, 50);
