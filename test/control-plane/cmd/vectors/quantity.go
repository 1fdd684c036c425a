package main

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// quantities: parsed is [text] if refused, else [text, as shown, canonical, format, value, milli value, AsInt64 or null];
// pairs is [a, b, order, sum, difference].
func quantities(random *rand.Rand) any {
	texts := []string{
		"", " ", "0", "00", "+", "-", ".", "+.", "-.", "Ki", "Ti", "Pi", "Ei", ".Ei", "m", "E", "e", "e3", "1e", "1E", "1e+", "1e3", "1E3",
		"1e-3", "1E-10", "1e+3", "1e03", "1ee3", "1Ee3", "1e3Ki", "1e3k", "1 Gi", " 1", "1 ", "1\n", "+1", "-1", "++1", "--1", "+-1",
		"1.5Gi", "0.1", "12E", "1n", "1u", "1m", "1k", "1K", "1Ki", "1ki", "1M", "1Mi", "1G", "1Gi", "1T", "1Ti", "1P", "1Pi", "1Ei",
		"1i", "1iK", "1mm", "1Kim", "1µ", "1,5", "1_000", "0x10", "1.2.3", "1.", ".1", "1.G", "1.Gi", ".5Gi", "5.Ei", "1..5",
		"01", "001Ki", "+1Ki", "1.0", "1.00", "1.000", "1.500", "1.5000", "100.035k", "1000", "1000m", "1024", "1024Ki", "1023Ki",
		"0.5n", "0.1n", "1.1n", "0.0000000001", "0.0000000009", "-0.0000000001", "0.5Ki", "0.0001Ki", "1.1Ki", "0.5", "500m",
		"8Ei", "7Ei", "9Ei", "1024Ei", "-8Ei", "-9Ei", "10Ti", "100Ti", "1000Ti", "100Pi", "9223372036854775807",
		"9223372036854775808", "-9223372036854775808", "-9223372036854775809", "18446744073709551616", "999999999999999999",
		"1000000000000000000", "9999999999999999999", "9223372036854775807m", "9223372036854775807Ki", "1234567890123456789012345678901",
		"100E", "999E", "1e18", "1e19", "1e100", "123e-12", "123456789e-18", "-1.5", "-1500m", "-1.5Gi", "-0.5", "-0", "0Ki", "0e5", "0.0Gi",
		"١", "1Ｋ", "1-5", "1+5", "1Gi5", "1Gi-5", "nu", "1nu",
	}
	suffixes := []string{"", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "e3", "e-3", "E6", "e1", "e-7", "e12"}
	for range 900 {
		texts = append(texts, pick(random, "", "", "", "-", "+")+digits(random)+pick(random, suffixes...))
	}
	var parsed [][]any
	var good []string
	for _, text := range texts {
		quantity, err := resource.ParseQuantity(text)
		if err != nil {
			parsed = append(parsed, []any{text})
			continue
		}
		good = append(good, text)
		var integer any
		if value, ok := quantity.AsInt64(); ok {
			integer = fmt.Sprint(value)
		}
		parsed = append(parsed, []any{
			text, quantity.String(), canonical(quantity), quantity.Format,
			fmt.Sprint(quantity.Value()), fmt.Sprint(quantity.MilliValue()), integer,
		})
	}
	var pairs [][]any
	for range 700 {
		a, b := pick(random, good...), pick(random, good...)
		pairs = append(pairs, []any{a, b, order(a, b), sum(a, b), difference(a, b)})
	}
	return map[string]any{"parsed": parsed, "pairs": pairs}
}

func digits(random *rand.Rand) string {
	whole := fmt.Sprint(random.Int64N(pick(random, int64(2), 10, 1025, 1_000_000, 1<<53, 1<<62)))
	if random.IntN(5) == 0 {
		whole += strings.Repeat("0", random.IntN(7))
	}
	if random.IntN(3) > 0 {
		return whole
	}
	return whole + "." + strings.Repeat("0", random.IntN(3)) + fmt.Sprint(random.IntN(pick(random, 10, 1000, 1_000_000_000)))
}

func canonical(quantity resource.Quantity) string {
	number, suffix := quantity.CanonicalizeBytes(nil)
	return string(number) + string(suffix)
}

func order(a, b string) int {
	left, right := resource.MustParse(a), resource.MustParse(b)
	return left.Cmp(right)
}

func sum(a, b string) string {
	total := resource.MustParse(a)
	total.Add(resource.MustParse(b))
	return total.String()
}

func difference(a, b string) string {
	total := resource.MustParse(a)
	total.Sub(resource.MustParse(b))
	return total.String()
}

// amounts: [percent, total, rounded up, rounded down].
func amounts(*rand.Rand) any {
	var cases [][]any
	for percent := 0; percent <= 100; percent++ {
		text := intstr.FromString(fmt.Sprintf("%d%%", percent))
		for _, total := range []int{0, 1, 3, 5, 10, 19, 21, 99, 100, 101, 5000, 65_535} {
			up, err := intstr.GetScaledValueFromIntOrPercent(&text, total, true)
			must(err)
			down, err := intstr.GetScaledValueFromIntOrPercent(&text, total, false)
			must(err)
			cases = append(cases, []any{percent, total, up, down})
		}
	}
	return cases
}
