package session

import (
	"cmp"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
)

// Record is the data about a session in this user's own files. A nil Record means that nothing is known.
type Record struct {
	Dir  string      // directory where the session started, because some CLIs find it only there; may be empty
	Used *call.Usage // counts of the CLI at the end of its latest call; nil if unknown
}

// Dir returns the working directory: that of the request, otherwise the one in which the session started, if known.
func Dir(req call.Request, known *Record) string {
	if known == nil {
		return req.Dir
	}
	return cmp.Or(req.Dir, known.Dir)
}

// Rebase subtracts the previous usage of a resumed session from the counts that the CLI accumulates over a session.
func Rebase(r clispec.SessionRules, u call.Usage, known *Record) call.Usage {
	var base *call.Usage
	if known != nil {
		base = known.Used
	}
	return rebased(u, r.Cumulative, base)
}

// Used returns the counts of a run that the CLI accumulates, nil if it reported none of them.
func Used(r clispec.SessionRules, u call.Usage) *call.Usage {
	var used call.Usage
	for _, name := range r.Cumulative {
		if name == clispec.CostField {
			used.CostUSD = u.CostUSD
		} else {
			*counters[name](&used) = *counters[name](&u)
		}
	}
	if used == (call.Usage{}) {
		return nil
	}
	return &used
}

// counters maps names to the counts of a Usage that a CLI may accumulate over the calls of a session.
var counters = map[string]func(*call.Usage) *int64{
	"input_tokens":       func(u *call.Usage) *int64 { return &u.InputTokens },
	"output_tokens":      func(u *call.Usage) *int64 { return &u.OutputTokens },
	"cache_read_tokens":  func(u *call.Usage) *int64 { return &u.CacheReadTokens },
	"cache_write_tokens": func(u *call.Usage) *int64 { return &u.CacheWriteTokens },
	"reasoning_tokens":   func(u *call.Usage) *int64 { return &u.ReasoningTokens },
	"turns":              func(u *call.Usage) *int64 { return &u.Turns },
}

// rebased subtracts the usage of earlier calls of the session from the cumulative counts. It drops the counts if that
// usage is unknown. A count that did not grow has restarted, as in some versions of a CLI, because each run uses
// something.
func rebased(u call.Usage, cumulative []string, base *call.Usage) call.Usage {
	for _, name := range cumulative {
		switch {
		case name == clispec.CostField && (base == nil || base.CostUSD == nil || u.CostUSD == nil):
			u.CostUSD = nil
		case name == clispec.CostField:
			if *u.CostUSD > *base.CostUSD {
				u.CostUSD = new(*u.CostUSD - *base.CostUSD)
			}
		case base == nil:
			*counters[name](&u) = 0
		default:
			if now, before := counters[name](&u), *counters[name](base); *now > before {
				*now -= before
			}
		}
	}
	return u
}
