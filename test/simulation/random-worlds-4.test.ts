import { playWorlds } from "./random-worlds.ts";

playWorlds(150, 50);
