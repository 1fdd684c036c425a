package main

import (
	"math/rand/v2"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
)

// names: [text, complaints as qualified name, label value, label, subdomain, 1035 label].
func names(random *rand.Rand) any {
	texts := []string{
		"", "a", "A", "1", "-", ".", "_", "a-", "-a", "a.", ".a", "a_b", "a.b", "a..b", "a-b", "a--b", "a/b", "/a", "a/", "a/b/c", "A/b", "a_/b",
		"example.com/MyName", "Example.com/name", "a b", "ä", "a\n", "a\u0000", "kubernetes.io/hostname", "node-role.kubernetes.io/control-plane",
		"1a", "a1", "*", "*.a", "a:b", "a=b", "\"", "\\", "\u00a0", "\u2028", "日本", "a\tb", "😀",
		strings.Repeat("a", 63), strings.Repeat("a", 64), strings.Repeat("a", 253), strings.Repeat("a", 254),
		strings.Repeat("a", 63) + "/" + strings.Repeat("b", 63), strings.Repeat("a", 253) + "/b", strings.Repeat("a", 254) + "/b",
		"a/" + strings.Repeat("b", 64), strings.Repeat("a.", 127), strings.Repeat("ä", 32), strings.Repeat("日", 85),
	}
	for range 20 {
		texts = append(texts, word(random, "aZ0-._/"))
	}
	var cases [][]any
	for _, text := range texts {
		cases = append(cases, []any{
			text,
			validation.IsQualifiedName(text), validation.IsValidLabelValue(text),
			validation.IsDNS1123Label(text), validation.IsDNS1123Subdomain(text), validation.IsDNS1035Label(text),
		})
	}
	return cases
}

func word(random *rand.Rand, alphabet string) string {
	var text strings.Builder
	for range random.IntN(6) {
		text.WriteByte(alphabet[random.IntN(len(alphabet))])
	}
	return text.String()
}

var labelSets = []map[string]string{
	{}, {"a": ""}, {"a": "b"}, {"a": "1"}, {"a": "10", "b": "x"}, {"a": "-5", "c": "d"}, {"b": "y", "in": "notin"},
	{"a": "9223372036854775808"}, {"a": "007", "x.y/z": "w"}, {"a": "b", "b": "c", "c": "", "x.y/z": ""},
}

// selectors: text is [text, "", error] or [text, as shown, matching label sets as bits]; objects likewise, from
// metav1.LabelSelector; fields is [text, "", error] or [text, as shown, matching field sets as bits].
func selectors(random *rand.Rand) any {
	return map[string]any{
		"labels": labelSets, "text": selectorTexts(random), "objects": selectorObjects(random),
		"fieldSets": fieldSets, "fields": fieldSelectors(random),
	}
}

func selectorTexts(random *rand.Rand) [][]any {
	texts := []string{
		"", " ", ",", ",,", "a,", ",a", "a,,b", "a", "!a", "! a", "!!a", "!", "a=b", "a==b", "a!=b", "a = b", "a=", "a==", "a!=", "a=,b=", "a===b", "a=!b", "a!==b",
		"a in (b)", "a in ()", "a in (,)", "a in (,,)", "a in (b,)", "a in (,b)", "a in (b,,c)", "a in (b,c,b)", "a in(b)", "ain (b)", "a in b", "a in", "a in (", "a in (b",
		"a in (b c)", "a in (b,=)", "a in (=)", "a in ((b))", "a in (b))", "a notin (b)", "a notin ()", "a notin (b,,c)", "in in (in)", "notin notin (notin)", "in", "notin", "in=notin",
		"a>1", "a<1", "a > 1", "a>x", "a>", "a>=1", "a<>1", "a>-1", "a>+1", "a>007", "a>9223372036854775807", "a>9223372036854775808", "a>1.5", "a gt 1",
		"a b", "a=b c", "a=b,c", "a=b,!c", "a,!b,c in (d),e notin (f,g),h>1,i<2,j!=k,l==m", "!a in (b)", "!a=b", "(a)", ")", "(", "a)", "=a", "=", "==", "!=", "a!b", "a(b)",
		"a/b=c", "a/b/c=d", "/a=b", "a/=b", "-a=b", "a=-b", "a=b/c", "a=b-", "A.b/C=D_e", "ä=b", "a=ä", "a=b\tc", "a\t=\nb\r", "a\v=b", "a=\"b\"", "a='b'", "a=b=c", "a:b",
		"a in (b), c in (d)", "z=1,a=2,m=3", "a=1,a=2", "a in (z,y,x)", "a=" + strings.Repeat("b", 64), strings.Repeat("a", 64) + "=b", strings.Repeat("a", 254) + "/b",
		"a in (" + strings.Repeat("b", 64) + ",-)", "a>-", "a>a-",
	}
	parts := []string{"a", "b", "c", "x.y/z", "in", "notin", "=", "==", "!=", "!", ",", ",", "(", ")", " ", " in ", " notin ", "1", "5", ">", "<", "-", "(b,c)", "(1,10)"}
	for range 900 {
		var text strings.Builder
		for range 1 + random.IntN(7) {
			text.WriteString(pick(random, parts...))
		}
		texts = append(texts, text.String())
	}
	for range 500 {
		var requirements []string
		for range 1 + random.IntN(3) {
			key := pick(random, "a", "a", "b", "c", "x.y/z", "in")
			requirements = append(requirements, pick(random,
				key, "!"+key, key+"=b", key+" == 1", key+"!=y", key+" in (b,1,,x)", key+" notin (10,c)", key+">0", key+" < 9", key+"=", key+" in (w)"))
		}
		texts = append(texts, strings.Join(requirements, ","))
	}
	var cases [][]any
	for _, text := range texts {
		selector, err := labels.Parse(text)
		cases = append(cases, selectorCase(text, selector, err))
	}
	return cases
}

func selectorCase(input any, selector labels.Selector, err error) []any {
	if err != nil {
		return []any{input, "", err.Error()}
	}
	bits := 0
	for index, set := range labelSets {
		if selector.Matches(labels.Set(set)) {
			bits |= 1 << index
		}
	}
	return []any{input, selector.String(), bits}
}

func selectorObjects(random *rand.Rand) [][]any {
	objects := []*metav1.LabelSelector{
		{}, {MatchLabels: map[string]string{"a/b/c": "d"}}, {MatchLabels: map[string]string{"a": "-"}},
		{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "In"}}},
		{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Exists", Values: []string{"b"}}}},
		{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Gt", Values: []string{"1"}}}},
		{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "in", Values: []string{"1"}}}},
		{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "", Operator: "In", Values: []string{"-", "b", "-c"}}}},
	}
	for range 300 {
		object := &metav1.LabelSelector{}
		if random.IntN(2) == 0 {
			object.MatchLabels = map[string]string{pick(random, "a", "b", "x.y/z"): pick(random, "", "b", "1", "x")}
		}
		for range random.IntN(3) {
			requirement := metav1.LabelSelectorRequirement{
				Key: pick(random, "a", "b", "c", "in"), Operator: pick(random, metav1.LabelSelectorOpIn, metav1.LabelSelectorOpNotIn, metav1.LabelSelectorOpExists, metav1.LabelSelectorOpDoesNotExist),
			}
			if requirement.Operator == "In" || requirement.Operator == "NotIn" || random.IntN(10) == 0 {
				requirement.Values = [][]string{{"b"}, {"z", "b", "1"}, {""}, {"x", "10"}}[random.IntN(4)]
			}
			object.MatchExpressions = append(object.MatchExpressions, requirement)
		}
		objects = append(objects, object)
	}
	var cases [][]any
	for _, object := range objects {
		selector, err := metav1.LabelSelectorAsSelector(object)
		cases = append(cases, selectorCase(object, selector, err))
	}
	return cases
}

var fieldSets = []map[string]string{
	{}, {"metadata.name": "a"}, {"metadata.name": "a,b"}, {"metadata.name": `a\=b`, "status.phase": "Running"}, {"metadata.name": "a", "status.phase": ""},
}

func fieldSelectors(random *rand.Rand) [][]any {
	texts := []string{
		"", ",", ",,", "a", "metadata.name", "metadata.name=a", "metadata.name==a", "metadata.name!=a", "metadata.name=", "metadata.name!=", "=", "==", "!=", "!", "=a", "!=a",
		`metadata.name=a\,b`, `metadata.name=a\\\=b`, `metadata.name=a\=b`, `metadata.name=a\b`, `metadata.name=a\`, `metadata.name=a\ä`, `metadata.name=\\`, `metadata.name=a=b`, "metadata.name===a",
		"metadata.name!==a", "metadata.name!a=b", "metadata.name=a,status.phase=Running", "status.phase!=Running,metadata.name=a", " metadata.name = a ", `metadata.name\=a=b`, `a\,b=c`, "spec.nodeName=\n",
	}
	parts := []string{"metadata.name", "status.phase", "a", "b", "Running", "=", "=", "==", "!=", "!", ",", `\`, `\,`, `\=`, `\\`}
	for range 500 {
		var text strings.Builder
		for range 1 + random.IntN(7) {
			text.WriteString(pick(random, parts...))
		}
		texts = append(texts, text.String())
	}
	var cases [][]any
	for _, text := range texts {
		selector, err := fields.ParseSelector(text)
		if err != nil {
			cases = append(cases, []any{text, "", err.Error()})
			continue
		}
		bits := 0
		for index, set := range fieldSets {
			if selector.Matches(fields.Set(set)) {
				bits |= 1 << index
			}
		}
		cases = append(cases, []any{text, selector.String(), bits})
	}
	return cases
}

// nodeSelectors: [terms, matching nodes as bits]; node i is named n<i> and has label set i.
func nodeSelectors(random *rand.Rand) any {
	values := [][]string{nil, {"b"}, {"1"}, {"-6"}, {"9"}, {"b", "1"}, {"x", "y"}, {"9223372036854775807"}, {"1.5"}, {"+3"}, {"-"}}
	operators := []corev1.NodeSelectorOperator{"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Gte", "in"}
	var cases [][]any
	for range 400 {
		selector := &corev1.NodeSelector{}
		for range 1 + random.IntN(2) {
			term := corev1.NodeSelectorTerm{}
			for range random.IntN(3) {
				term.MatchExpressions = append(term.MatchExpressions, corev1.NodeSelectorRequirement{
					Key: pick(random, "a", "a", "b", "c", "x.y/z"), Operator: pick(random, operators...), Values: pick(random, values...),
				})
			}
			if random.IntN(4) == 0 {
				term.MatchFields = []corev1.NodeSelectorRequirement{{
					Key: pick(random, "metadata.name", "metadata.name", "metadata.uid"), Operator: pick(random, operators[:3]...),
					Values: pick(random, []string{"n2"}, []string{"n4"}, []string{"n2", "n4"}, []string{""}),
				}}
			}
			selector.NodeSelectorTerms = append(selector.NodeSelectorTerms, term)
		}
		bits := 0
		for index, set := range labelSets {
			node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n" + string(rune('0'+index)), Labels: set}}
			if match, _ := nodeaffinity.NewLazyErrorNodeSelector(selector).Match(node); match {
				bits |= 1 << index
			}
		}
		cases = append(cases, []any{selector, bits})
	}
	return map[string]any{"labels": labelSets, "cases": cases}
}
