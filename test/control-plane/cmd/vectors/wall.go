package main

import (
	"sort"
	"time"

	"github.com/robfig/cron/v3"
)

// What a schedule's hits are, said once more and differently from robfig's walk and from ours: look at the wall clock
// in every minute. A minute is a hit if what the clock shows matches. Where the clock jumps forward, the minutes that it
// leaves out are shown to it all at once.

type zone struct {
	location *time.Location
	days     []day
	// Where the clock changes, in minutes since 1970.
	changes []int64
}

// day is a stretch in which the clock shows one date, mostly 1440 minutes.
type day struct {
	date time.Time
	// When it begins, in minutes since 1970.
	begin int64
	// The minute of the day that the clock shows, one by one.
	shown []int
	// At landing the clock has just left out these times.
	landing int64
	skipped []time.Time
}

var ordinary = func() (minutes []int) {
	for minute := range 1440 {
		minutes = append(minutes, minute)
	}
	return minutes
}()

func loadZone(name string) *zone {
	location, err := time.LoadLocation(name)
	must(err)
	loaded := &zone{location: location}
	at, until := time.Date(2017, 1, 1, 0, 0, 0, 0, location), time.Date(2036, 1, 2, 0, 0, 0, 0, location)
	for at.Before(until) {
		var next day
		next, at = loaded.readDay(at)
		loaded.days = append(loaded.days, next)
	}
	return loaded
}

// readDay reads the clock from at, where it begins to show a date, until it shows another.
func (z *zone) readDay(at time.Time) (day, time.Time) {
	read := day{date: at, begin: at.Unix() / 60}
	end := at.Add(24 * time.Hour)
	if _, offsetBefore := at.Add(-time.Minute).Zone(); offsetBefore == offsetAt(at) && offsetBefore == offsetAt(end) {
		read.shown = ordinary
		return read, end
	}
	for ; at.Day() == read.date.Day(); at = at.Add(time.Minute) {
		offset, before := offsetAt(at), offsetAt(at.Add(-time.Minute))
		if offset != before {
			z.changes = append(z.changes, at.Unix()/60)
		}
		for left := before; left < offset; left += 60 {
			read.landing = at.Unix() / 60
			read.skipped = append(read.skipped, at.UTC().Add(time.Duration(left)*time.Second))
		}
		read.shown = append(read.shown, at.Hour()*60+at.Minute())
	}
	return read, at
}

func offsetAt(at time.Time) int {
	_, offset := at.Zone()
	return offset
}

// starts are instants around the changes of the years 2017 to 2024, in minutes since 1970.
func (z *zone) starts() []int64 {
	first, last := time.Date(2017, 2, 1, 0, 0, 0, 0, time.UTC).Unix()/60, time.Date(2024, 12, 1, 0, 0, 0, 0, time.UTC).Unix()/60
	distances := []int64{-7 * 1440, -26*60 - 7, -181, -75, -31, -1, 0, 29}
	var starts []int64
	for number, change := range z.changes {
		if change >= first && change <= last {
			starts = append(starts, change+distances[number%len(distances)], change+distances[(number+3)%len(distances)])
		}
	}
	if starts == nil {
		return []int64{first + 1}
	}
	return starts
}

// hits are the first ones after start, in minutes from there.
func (z *zone) hits(spec *cron.SpecSchedule, start int64, withSkipped bool) []int64 {
	found := []int64{}
	for at, ok := z.next(spec, start, withSkipped); ok && len(found) < zoneHits; at, ok = z.next(spec, at, withSkipped) {
		found = append(found, at-start)
	}
	return found
}

// next is the first hit after an instant, up to where robfig gives up: the end of the fifth year after the one it starts in.
func (z *zone) next(spec *cron.SpecSchedule, after int64, withSkipped bool) (int64, bool) {
	lastYear := time.Unix(after*60, 0).In(z.location).Year() + 5
	first := sort.Search(len(z.days), func(i int) bool { return z.days[i].begin+int64(len(z.days[i].shown)) > after })
	for _, day := range z.days[first:] {
		if day.date.Year() > lastYear {
			break
		}
		skippedHit := false
		for _, skipped := range day.skipped {
			skippedHit = skippedHit || dayWanted(spec, skipped) && timeWanted(spec, skipped.Hour()*60+skipped.Minute())
		}
		wanted := dayWanted(spec, day.date)
		if !wanted && !skippedHit {
			continue
		}
		for index, shown := range day.shown {
			at := day.begin + int64(index)
			hit := wanted && timeWanted(spec, shown) || withSkipped && skippedHit && at == day.landing
			if hit && at > after {
				return at, true
			}
		}
	}
	return 0, false
}

const star = 1 << 63

func dayWanted(spec *cron.SpecSchedule, date time.Time) bool {
	if spec.Month>>date.Month()&1 == 0 {
		return false
	}
	byDate, byWeekday := spec.Dom>>date.Day()&1 == 1, spec.Dow>>date.Weekday()&1 == 1
	if spec.Dom&star != 0 || spec.Dow&star != 0 {
		return byDate && byWeekday
	}
	return byDate || byWeekday
}

func timeWanted(spec *cron.SpecSchedule, minuteOfDay int) bool {
	return spec.Hour>>(minuteOfDay/60)&1 == 1 && spec.Minute>>(minuteOfDay%60)&1 == 1
}
