package search_test

import (
	"fmt"
	"slices"
	"time"

	"github.com/clichain/clichain"
)

// searchCooldown is what the search knows about the cooldown of one backend. Times are those of its clock.
type searchCooldown struct {
	began, until time.Time  // zero until: none that must exist; it may have begun
	probe        *searchRun // the half-open probe in flight
}

// searchBase has the cooldowns of the failures that start one at once.
var searchBase = map[clichain.Reason]time.Duration{
	clichain.ReasonRateLimited: 30 * time.Second, clichain.ReasonUsageLimit: 5 * time.Minute,
	clichain.ReasonOverloaded: 30 * time.Second,
}

// searchMemory is the time after a cooldown in which its failures count.
const searchMemory = time.Hour

// brokenCooldowns checks that no backend runs during its cooldown, and that after it only one call at a time probes.
func (w *searchWorld) brokenCooldowns() (problems []string) {
	if w.NoCooldown || w.Store != "memory" { // a store that fails or delays may lose a cooldown
		return nil
	}
	for place := range w.Backends {
		problems = append(problems, w.brokenCooldown(place)...)
	}
	return problems
}

// moment is the begin or the end of a run.
type moment struct {
	at  time.Time
	run *searchRun
	end bool
}

func (w *searchWorld) brokenCooldown(place int) (problems []string) {
	var moments []moment
	for _, r := range w.runs {
		if r.place == place {
			moments = append(moments, moment{r.start, r, false}, moment{r.end, r, true})
		}
	}
	slices.SortStableFunc(moments, func(a, b moment) int { return a.at.Compare(b.at) })
	state, setBack := searchCooldown{}, 0
	for _, m := range moments {
		if m.run.setBack > setBack {
			state, setBack = searchCooldown{}, m.run.setBack // the cooldowns begin again
		}
		now := m.at.Add(m.run.offset)
		if m.end {
			state.ended(m.run, now)
		} else if problem := state.begins(w, m.run, now); problem != "" {
			problems = append(problems, fmt.Sprintf("call %d: %s %s", m.run.call.id, searchName(place), problem))
		}
	}
	return problems
}

func (s *searchCooldown) begins(w *searchWorld, r *searchRun, now time.Time) string {
	switch {
	case s.until.IsZero() || !now.After(s.began):
	case now.After(s.until.Add(searchMemory)):
		*s = searchCooldown{}
	case now.Before(s.until):
		return fmt.Sprintf("ran in cooldown, %v before its end", s.until.Sub(now))
	case s.probe == nil:
		s.probe = r
	case s.probe.call != r.call && r.start.Before(w.probeEnd(s.probe)):
		return fmt.Sprintf("ran beside the half-open probe of call %d", s.probe.call.id)
	}
	return ""
}

// probeEnd returns the time before which no other call may probe.
func (w *searchWorld) probeEnd(r *searchRun) time.Time {
	longest := r.start.Add(clichain.DefaultTimeout)
	if end, _ := w.limit(r.call); !end.IsZero() && end.Before(longest) {
		return end
	}
	return longest
}

func (s *searchCooldown) ended(r *searchRun, now time.Time) {
	if s.probe == r {
		s.probe = nil
	}
	late := r.start.Add(r.offset).Before(s.began) // it began before the cooldown
	switch {
	case r.panicked:
	case r.answered():
		if !late {
			*s = searchCooldown{}
		}
	case !r.deadline.IsZero() && !r.end.Before(r.deadline):
		*s = searchCooldown{began: now} // a failure after the deadline may not count
	case late && s.until.IsZero() && searchBase[r.err.Reason] > 0:
		s.began = now // a cooldown may have begun before this failure, so this one may not count
	case searchBase[r.err.Reason] > 0:
		until, announced := now.Add(searchBase[r.err.Reason]), r.err.RetryAfter.After(now)
		if announced {
			until = r.err.RetryAfter
		}
		longer := announced && !s.until.IsZero() && until.After(s.until.Add(2*time.Second))
		if !late || longer {
			*s = searchCooldown{began: now, until: until}
		}
	case !late && (r.err.Reason == clichain.ReasonExit || r.err.Reason == clichain.ReasonTimeout):
		*s = searchCooldown{began: now} // it may count from now on, or not at all
	}
}
