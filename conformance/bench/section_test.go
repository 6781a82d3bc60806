package bench_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

// took returns turns of one call with these times.
func took(ms ...float64) (turns []turn) {
	for _, d := range ms {
		turns = append(turns, turn{outcome: outcome{Took: d, Calls: []reply{{Took: d, Text: hello}}}})
	}
	return turns
}

func TestSection(t *testing.T) {
	res := result{
		row{
			name: "A row", what: "What the row does.", measures: []measure{answered},
			missing: map[string]string{codexSDKName: onlyCodex},
		},
		map[string][]turn{clichainName: took(50, 100, 60), execName: took(100, 50, 40), xargsName: took(300)},
		map[string]error{acpxName: errors.New("exit status 1: a | b\nc")},
	}
	text := res.section()
	require.Contains(t, text, "\n## A row\n\nWhat the row does.\n\n| | answer, ms | ratio to os/exec | n |\n|---|---|---|---|\n")
	require.Contains(t, text, "\n| clichain | 60 (55–80) | 1.50 (1–1.75) | 3 |\n")
	require.Contains(t, text, "\n| os/exec | 50 (45–75) | – | 3 |\n")
	require.Contains(t, text, "\n| xargs -P | 300 | 3 | 1 |\n")
	require.Contains(t, text, "\n| codex-sdk | not supported: codex only | – | 0 |\n")
	require.Contains(t, text, "\n| acpx | no answer | – | 0 |\n")
	require.Contains(t, text, "\n- acpx: exit status 1: a / b c\n")
	require.Contains(t, glance([]result{res}), "\n| A row: answer, ms | 60 (1.50) | **50** | 300 (3) | none | – | none | none |\n")

	answered := answered
	answered.more = true
	res.measures = []measure{answered}
	require.Contains(t, glance([]result{res}), "| 60 (1.50) | 50 | **300** (3) |", "a higher figure is better")
}

func TestJobOfLimitedRow(t *testing.T) {
	for _, r := range rows {
		if !r.limited {
			continue
		}
		other := &target{CLI: "codex", Binary: "/bin/codex", Env: []string{"HOME=/h"}}
		words := r.jobOf(contender{}, other).shell(target{CLI: "claude", Binary: "/bin/claude"})
		require.Equal(t, []string{"sh", "-c", "'timeout' '25' '/bin/claude' '-p' '--' '{}' || " +
			"'env' 'HOME=/h' '/bin/codex' 'exec' '--skip-git-repo-check' '--' '{}'"}, words)
		words = r.jobOf(contender{}, nil).shell(target{CLI: "claude", Binary: "/bin/claude"})
		require.Equal(t, []string{"timeout", "40", "/bin/claude", "-p", "--", "{}"}, words)
	}
}
