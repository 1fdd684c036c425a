import { playWorlds } from "./random-worlds.ts";

playWorlds(50, 50);
