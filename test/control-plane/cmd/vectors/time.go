package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// durations: [text] if refused, else [text, nanoseconds, as Go writes it].
func durations(random *rand.Rand) any {
	texts := []string{
		"", "0", "+0", "-0", "00", "0s", "-0s", "1", "-", "+", ".", ".s", "s", "1.s", ".5s", "5.5.5s", "1 s", " 1s", "1s ",
		"1d", "1w", "1y", "1H", "1M", "1S", "1e3s", "0x1s", "1_000s", "١s", "1h1", "1h-1m", "--1s", "+-1s", "Never", "never",
		"1h30m", "144h0m0s", "300s", "720h", "1h30m0s", "15m", "1.5h", "100ms", "1us", "1µs", "1μs", "1ns", "0.5ns", "0.9ns",
		"0.1ms", "999999us", "1.000000001s", "0.100000000000000000000h", "0.3333333333333333333h", "0.830103483285477580700h",
		"9223372036854775807ns", "9223372036854775808ns", "-9223372036854775807ns", "-9223372036854775808ns",
		"-9223372036854775809ns", "9223372036854775.807us", "9223372036s854ms775us807ns", "2562047h47m16.854775807s",
		"2562047h47m16.854775808s", "-2562047h47m16.854775808s", "3000000h", "18446744073709551616ns",
		"000000000000000000000000000000000001s", "9007199254.740993s", "39h9m14.425s", "1ms1s1h", "1s1s", "5m0.5s",
	}
	for range 1500 {
		var text strings.Builder
		text.WriteString(pick(random, "", "", "", "", "-", "+"))
		for range 1 + random.IntN(3) {
			text.WriteString(number(random))
			text.WriteString(pick(random, "ns", "us", "µs", "ms", "s", "s", "m", "m", "h", "h", "", "d", "x"))
		}
		texts = append(texts, text.String())
	}
	var cases [][]any
	for _, text := range texts {
		duration, err := time.ParseDuration(text)
		if err != nil {
			cases = append(cases, []any{text})
			continue
		}
		cases = append(cases, []any{text, fmt.Sprint(int64(duration)), duration.String()})
	}
	return cases
}

func number(random *rand.Rand) string {
	whole := fmt.Sprint(random.IntN(pick(random, 2, 10, 100, 100_000)))
	switch random.IntN(4) {
	case 0:
		return whole + "." + fmt.Sprint(random.Uint64())[:1+random.IntN(17)]
	case 1:
		return pick(random, "", whole) + "." + strings.Repeat("0", random.IntN(4)) + fmt.Sprint(random.IntN(1000))
	default:
		return whole
	}
}

// times: [text, milliseconds as metav1.Time or null, milliseconds as metav1.MicroTime or null].
func times(random *rand.Rand) any {
	texts := []string{
		"", "null", "2026-01-31", "2026-01-31T08:30:00", "2026-01-31T08:30Z", "2026-01-31 08:30:00Z", "2026-01-31t08:30:00z",
		"2026-1-31T08:30:00Z", "2026-01-31T8:30:00Z", "2026-01-31T08:3:00Z", "2026-01-31T08:30:0Z", "26-01-31T08:30:00Z",
		"2026-02-29T00:00:00Z", "2024-02-29T00:00:00Z", "2100-02-29T00:00:00Z", "2000-02-29T00:00:00Z", "2026-04-31T00:00:00Z",
		"2026-00-10T00:00:00Z", "2026-13-10T00:00:00Z", "2026-01-00T00:00:00Z", "2026-01-32T00:00:00Z",
		"2026-01-31T24:00:00Z", "2026-01-31T23:60:00Z", "2026-01-31T23:59:60Z", "2026-01-31T23:59:59Z",
		"0000-01-01T00:00:00Z", "0001-01-01T00:00:00Z", "0099-12-31T23:59:59Z", "1969-12-31T23:59:59.999Z", "9999-12-31T23:59:59Z",
		"10000-01-01T00:00:00Z", "-001-01-01T00:00:00Z", "+2026-01-31T08:30:00Z",
		"2026-01-31T08:30:00+01:00", "2026-01-31T08:30:00-23:59", "2026-01-31T08:30:00+24:00", "2026-01-31T08:30:00+24:60",
		"2026-01-31T08:30:00+25:00", "2026-01-31T08:30:00+00:61", "2026-01-31T08:30:00+0100", "2026-01-31T08:30:00+1:00",
		"2026-01-31T08:30:00.Z", "2026-01-31T08:30:00,5Z", "2026-01-31T08:30:00,500000Z", "2026-01-31T08:30:00.123456789123Z",
		"2026-01-31T08:30:00.1234567Z", "2026-01-31T08:30:00.12345Z", "2026-01-31T08:30:00.123456Z", "2026-01-31T08:30:00.999999Z",
		"2026-01-31T08:30:00.123456+05:45", "2026-01-31T08:30:00.123456 Z", " 2026-01-31T08:30:00Z", "2026-01-31T08:30:00ZZ",
		"2026-01-31T08:30:00Z07:00", "2026-01-31T08:30:00GMT", "2026-01-31T08:30:00.1 Z", "٢٠٢٦-01-31T08:30:00Z",
	}
	layouts := []string{time.RFC3339, time.RFC3339Nano, metav1.RFC3339Micro, "2006-01-02T15:04:05.000Z07:00"}
	for range 400 {
		zone := time.FixedZone("", 60*(random.IntN(1681)-840))
		instant := time.Unix(random.Int64N(8_000_000_000)-4_000_000_000, random.Int64N(1e9)).In(zone)
		texts = append(texts, instant.Format(pick(random, layouts...)))
	}
	var cases [][]any
	for _, text := range texts {
		cases = append(cases, []any{text, millis(time.RFC3339, text), millis(metav1.RFC3339Micro, text)})
	}
	return cases
}

func millis(layout, text string) any {
	instant, err := time.Parse(layout, text)
	if err != nil {
		return nil
	}
	return instant.UnixMilli()
}
