package response

import (
	"slices"

	"github.com/clichain/clichain/call"
)

// source is the object "clichain" of an answer. The API has no fields for what it holds.
type source struct {
	Backend  string       `json:"backend"`
	Attempts []attempt    `json:"attempts"`
	Warnings []string     `json:"warnings"`
	Billing  call.Billing `json:"billing,omitempty"`
}

type attempt struct {
	Backend string      `json:"backend"`
	Reason  call.Reason `json:"reason"`
	Skipped bool        `json:"skipped"`
}

func sourceOf(resp *call.Response) *source {
	s := &source{resp.Backend, []attempt{}, append([]string{}, resp.Warnings...), resp.Billing}
	for _, a := range resp.Attempts {
		s.Attempts = append(s.Attempts, attempt{a.Backend, a.Reason, a.Skipped})
	}
	return s
}

// truncated reports whether the text can be incomplete.
func truncated(resp *call.Response) bool { return slices.Contains(resp.Flags, call.FlagTruncated) }
