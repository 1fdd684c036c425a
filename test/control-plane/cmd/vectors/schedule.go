package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// Zones with every way to change a clock: in the night, at midnight east and west of Greenwich, by half an hour,
// by two hours, for a month, with odd offsets, and not at all.
var zoneNames = []string{
	"Europe/Berlin", "America/New_York", "America/Sao_Paulo", "Australia/Lord_Howe", "Australia/Sydney", "Africa/Cairo", "Asia/Beirut",
	"America/Santiago", "America/Havana", "America/Asuncion", "Africa/Casablanca", "Antarctica/Troll", "Atlantic/Azores", "Pacific/Chatham", "Asia/Kolkata",
}

const (
	utcHits  = 5
	zoneHits = 2
)

// schedules:
//   - refused: texts that robfig refuses;
//   - accepted: [text, minutes from utcStart to robfig's hits in UTC, for each zone the minutes from its start to the hits];
//     text i starts in zone z at starts[z][i mod len]; hits are those of wall.go;
//   - differs: [index of the text, index of the zone, "gap" or "walk"], where robfig's hits are others. "gap": robfig
//     leaves out a hit that the clocks skip, and that is all. "walk": robfig's walk steps over a change of the clocks in the
//     wrong place, and so misses dates and times that the clocks show, or fires where they show something else.
func schedules(random *rand.Rand) any {
	utcStart := time.Date(2023, 11, 30, 22, 58, 30, 0, time.UTC)
	var zones []*zone
	var starts [][]int64
	for _, name := range zoneNames {
		loaded := loadZone(name)
		zones = append(zones, loaded)
		starts = append(starts, loaded.starts())
	}
	var accepted, differs [][]any
	refused := []string{}
	for _, text := range scheduleTexts(random) {
		// As Karpenter calls it, which also refuses a zone in the text and trims blanks.
		schedule, err := cron.ParseStandard("TZ=UTC " + text)
		if err != nil {
			refused = append(refused, text)
			continue
		}
		spec, ok := schedule.(*cron.SpecSchedule)
		if !ok || !plain(text) {
			continue
		}
		row := []any{text, robfigHits(spec, time.UTC, utcStart, utcHits)}
		var inZones [][]int64
		for index, zone := range zones {
			start := starts[index][len(accepted)%len(starts[index])]
			hits, kept := zone.hits(spec, start, true), zone.hits(spec, start, false)
			inZones = append(inZones, hits)
			robfig := robfigHits(spec, zone.location, time.Unix(start*60, 0), zoneHits)
			if fmt.Sprint(robfig) == fmt.Sprint(hits) {
				continue
			}
			why := "walk"
			if fmt.Sprint(robfig) == fmt.Sprint(kept) {
				why = "gap"
			}
			differs = append(differs, []any{len(accepted), index, why})
		}
		accepted = append(accepted, append(row, inZones))
	}
	return map[string]any{
		"utcStart": utcStart.UnixMilli(), "zones": zoneNames, "starts": starts,
		"accepted": accepted, "refused": refused, "differs": differs,
	}
}

// plain leaves out what only robfig takes for a schedule; the tests name these texts themselves.
func plain(text string) bool {
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '\t' }) {
		if strings.HasPrefix(part, ",") || strings.HasSuffix(part, ",") || strings.Contains(part, ",,") ||
			strings.Contains(part, "*-") || strings.Contains(part, "?-") {
			return false
		}
	}
	return true
}

func robfigHits(spec *cron.SpecSchedule, location *time.Location, start time.Time, count int) []int64 {
	local := *spec
	local.Location = location
	hits := []int64{}
	for at := start; len(hits) < count; {
		at = local.Next(at)
		if at.IsZero() {
			break
		}
		hits = append(hits, (at.Unix()-start.Unix()+59)/60)
	}
	return hits
}

func scheduleTexts(random *rand.Rand) []string {
	texts := []string{
		"@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly", " @daily ", "@Daily", "@dailyx", "@", "@reboot", "@every", "@every 1h", "@every x",
		"", " ", "*", "* * * *", "* * * * * *", "TZ=UTC * * * * *", "CRON_TZ=UTC 0 0 * * *", "\t0  0\t* * *\n", "? ? ? ? ?", "0 0 ? * ?", "*/1 * * * *", "*/90 * * * *", "5/15 * * * *",
		"5/0 * * * *", "*/0 * * * *", "*/-1 * * * *", "*/x * * * *", "*/ * * * *", "/5 * * * *", "1-2-3 * * * *", "1/2/3 * * * *", "60 * * * *", "* 24 * * *", "* * 0 * *", "* * 32 * *", "* * * 0 *",
		"* * * 13 *", "* * * * 7", "* * * * 0-7", "* * * * sun-sat", "* * * * SUN", "* * * * Mon-Fri", "* * * * fri-mon", "* * * * sunday", "* * * jan-dec *", "* * * JAN,jul *", "* * jan * *",
		"5-1 * * * *", "-5 * * * *", "5- * * * *", "+5 * * * *", "+5-+7 * * * *", "5.0 * * * *", "0x5 * * * *", "05 09 * * *", "1 2 3 4 5", "1;2 * * * *", "L * * * *", "* * L * *", "* * 15W * *", "* * * * 1#2",
		"H * * * *", "99999999999999999999 * * * *", "*/99999999999999999999 * * * *", "*/9223372036854775807 * * * *", "1,2,1 * * * *", "*,5 * * * *", "0 0 *,5 * 1", "0 0 */1 * 1", "0 0 */2 * 1", "0 0 1-31 * 1",
		"0 0 1 * 1", "0 0 13 * fri", "0 0 31 2 *", "0 0 30 feb *", "0 0 29 2 *", "0 0 29 feb mon", "0 0 29 2 */2", "59 23 31 12 *", "0 0 1 1 *", "30 2 * * *", "30 1 * * *", "0 2 * * *", "0 3 * * *", "0 0 * * *", "15 0 * * *",
		"0 0 * * sun", "30 0 * * sun", "* 0 * * *", "*/30 0-3 * * *", "15 3 * * *", "0-59 2 * * *", "0 1,2,3 * * *", "5 */2 * * *", "*/7 */5 */3 * *", "0 0 1 10 *", "0 0 1 */2 *",
	}
	for len(texts) < 3_500 {
		texts = append(texts, strings.Join([]string{
			scheduleField(random, 0, 59, nil),
			pick(random, "*", "0", "1", "2", "3", "0-3", "1,2", scheduleField(random, 0, 23, nil), scheduleField(random, 0, 23, nil)),
			pick(random, "*", "*", "*", scheduleField(random, 1, 31, nil)),
			pick(random, "*", "*", "*", scheduleField(random, 1, 12, []string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"})),
			pick(random, "*", "*", "*", scheduleField(random, 0, 6, []string{"sun", "MON", "tue", "wed", "thu", "Fri", "sat"})),
		}, " "))
	}
	return texts
}

func scheduleField(random *rand.Rand, low, high int, names []string) string {
	var items []string
	for range pick(random, 1, 1, 1, 2, 3) {
		from := low + random.IntN(high-low+1)
		to := from + random.IntN(high-from+1)
		item := pick(random, "*", fmt.Sprint(from), fmt.Sprint(from), fmt.Sprintf("%d-%d", from, to), "?")
		if names != nil && random.IntN(2) == 0 {
			item = pick(random, names[from-low], names[from-low]+"-"+names[to-low])
		}
		if random.IntN(3) == 0 {
			item += fmt.Sprintf("/%d", 1+random.IntN(pick(random, 2, 5, 30)))
		}
		if random.IntN(60) == 0 { // now and then one too far
			item = pick(random, fmt.Sprint(high+1), fmt.Sprintf("%d-%d", from, from-1), item+"/0", item+"-", fmt.Sprintf("%d-%d", from, high+1))
		}
		items = append(items, item)
	}
	return strings.Join(items, ",")
}

// windows: [schedule, duration in minutes, instant in seconds, 1 if Karpenter's budget is active then]. Karpenter 1.8 asks
// robfig, in UTC, for the first hit after the instant less the duration, and whether that is not after the instant.
func windows(random *rand.Rand) any {
	var cases [][]any
	for len(cases) < 1_200 {
		text := strings.Join([]string{
			scheduleField(random, 0, 59, nil), pick(random, "*", scheduleField(random, 0, 23, nil)), pick(random, "*", "*", "1,15"), "*", pick(random, "*", "mon-fri", "sat,sun"),
		}, " ")
		schedule, err := cron.ParseStandard("TZ=UTC " + text)
		if err != nil || !plain(text) {
			continue
		}
		duration := time.Duration(pick(random, 1, 5, 30, 60, 90, 480, 1440, 2880, 1+random.IntN(3000))) * time.Minute
		hit := schedule.Next(time.Date(2024, 2, 20, 0, 0, 0, 0, time.UTC).Add(time.Duration(random.IntN(10_000_000)) * time.Second))
		for _, at := range []time.Time{hit.Add(-time.Second), hit, hit.Add(duration - time.Second), hit.Add(duration)} {
			active := 0
			if !schedule.Next(at.Add(-duration)).After(at) {
				active = 1
			}
			cases = append(cases, []any{text, int(duration / time.Minute), at.Unix(), active})
		}
	}
	return cases
}
