// Command vectors writes down how Go and Kubernetes read the values of the API, as JSON that the unit tests of
// src/api compare with. What it writes depends on nothing but the pins of go.mod and Go's own time zones: same pins,
// same bytes.
//
//	go run ./cmd/vectors DIRECTORY
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: vectors DIRECTORY")
		os.Exit(2)
	}
	// Go's own time zones, not those of the machine.
	must(os.Setenv("ZONEINFO", filepath.Join(runtime.GOROOT(), "lib", "time", "zoneinfo.zip")))
	for name, vectors := range map[string]func(*rand.Rand) any{
		"durations":      durations,
		"times":          times,
		"quantities":     quantities,
		"amounts":        amounts,
		"names":          names,
		"selectors":      selectors,
		"node-selectors": nodeSelectors,
		"tolerations":    tolerations,
		"schedules":      schedules,
		"windows":        windows,
	} {
		random := rand.New(rand.NewPCG(1, uint64(len(name))))
		must(os.WriteFile(filepath.Join(os.Args[1], name+".json"), linesOf(vectors(random)), 0o644))
	}
}

// linesOf is compact JSON with one element of an outermost list a line, so that a change reads as a change.
func linesOf(value any) []byte {
	sections, ok := value.(map[string]any)
	if !ok {
		sections = map[string]any{"cases": value}
	}
	var compact bytes.Buffer
	encoder := json.NewEncoder(&compact)
	encoder.SetEscapeHTML(false)
	must(encoder.Encode(sections))

	var lines bytes.Buffer
	depth, inString, escaped := 0, false, false
	for _, b := range compact.Bytes() {
		switch {
		case escaped:
			escaped = false
		case inString && b == '\\':
			escaped = true
		case b == '"':
			inString = !inString
		case inString:
		case b == '[' || b == '{':
			depth++
		case b == ']' || b == '}':
			depth--
		}
		lines.WriteByte(b)
		if !inString && (depth == 2 && (b == '[' || b == ',') || depth == 1 && b == ',') {
			lines.WriteByte('\n')
		}
	}
	return lines.Bytes()
}

func pick[T any](random *rand.Rand, from ...T) T {
	return from[random.IntN(len(from))]
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
