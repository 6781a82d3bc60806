package session

import (
	"math"
	"strconv"
	"strings"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
)

// counters are the parts of a Usage that a CLI may count on from call to call
// of one session.
var counters = map[string]func(*call.Usage) *int64{
	"input_tokens":       func(u *call.Usage) *int64 { return &u.InputTokens },
	"output_tokens":      func(u *call.Usage) *int64 { return &u.OutputTokens },
	"cache_read_tokens":  func(u *call.Usage) *int64 { return &u.CacheReadTokens },
	"cache_write_tokens": func(u *call.Usage) *int64 { return &u.CacheWriteTokens },
	"reasoning_tokens":   func(u *call.Usage) *int64 { return &u.ReasoningTokens },
	"turns":              func(u *call.Usage) *int64 { return &u.Turns },
}

// rebased takes from a CLI's count what earlier calls of the session had used.
// Where that is not known, the count says nothing about this call, and is
// dropped.
func rebased(u call.Usage, cumulative []string, base *call.Usage) call.Usage {
	for _, name := range cumulative {
		switch {
		case name == clispec.CostField && (base == nil || base.CostUSD == nil || u.CostUSD == nil):
			u.CostUSD = nil
		case name == clispec.CostField:
			u.CostUSD = new(math.Max(*u.CostUSD-*base.CostUSD, 0))
		case base == nil:
			*counters[name](&u) = 0
		default:
			*counters[name](&u) = max(*counters[name](&u)-*counters[name](base), 0)
		}
	}
	return u
}

// EncodeBase writes the cumulative counts of a usage, for a session's handle.
func EncodeBase(u call.Usage, cumulative []string) string {
	var parts []string
	for _, name := range cumulative {
		if name != clispec.CostField {
			if n := *counters[name](&u); n > 0 {
				parts = append(parts, name+"="+strconv.FormatInt(n, 10))
			}
		} else if u.CostUSD != nil {
			parts = append(parts, name+"="+strconv.FormatFloat(*u.CostUSD, 'g', 12, 64))
		}
	}
	return strings.Join(parts, ",")
}

// decodeBase reads what encodeBase wrote; nil when there is nothing that can
// be read.
func decodeBase(text string) *call.Usage {
	var base call.Usage
	for part := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(part, "=")
		if name == clispec.CostField {
			usd, err := strconv.ParseFloat(value, 64)
			if err != nil || !(usd >= 0 && usd < math.MaxFloat64) {
				return nil
			}
			base.CostUSD = &usd
			continue
		}
		field, ok := counters[name]
		n, err := strconv.ParseInt(value, 10, 64)
		if !ok || err != nil || n < 0 {
			return nil
		}
		*field(&base) = n
	}
	return &base
}
