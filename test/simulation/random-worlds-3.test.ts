import { playWorlds } from "./random-worlds.ts";

playWorlds(100, 50);
