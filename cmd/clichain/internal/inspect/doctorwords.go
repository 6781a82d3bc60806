package inspect

import (
	"slices"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/quotatext"
	"github.com/clichain/clichain/cmd/clichain/internal/terminal"
	"github.com/clichain/clichain/doctor"
)

// stateOf returns the state of a backend as a word, with a mark and a color.
func stateOf(d doctor.Diagnosis, s console.Style) (word, mark string, paint func(string) string) {
	switch {
	case d.SuppressedBy != "":
		return "turned off", "–", s.Dim
	case d.Ready() && isUnasked(d):
		return "if named", "·", s.Dim
	case d.Ready() && hasProblem(d, doctor.CodeSlow):
		return "slow", "?", s.Yellow
	case d.Ready() && d.Login == clispec.LoginUnknown:
		return "maybe", "?", s.Yellow
	case d.Ready():
		return "ready", "✓", s.Green
	}
	if i := slices.IndexFunc(d.Problems, doctor.Problem.Blocks); i >= 0 {
		return d.Problems[i].Code, "✗", s.Red
	}
	return string(clichain.ReasonNotInstalled), "✗", s.Red
}

// shared separates problems that several backends share, which are about the machine, from the others.
func shared(report doctor.Report) (machine []doctor.Problem, own map[string][]doctor.Problem) {
	count := map[[3]string]int{}
	key := func(p doctor.Problem) [3]string { return [...]string{p.Code, p.Message, p.Hint} }
	for _, d := range report.Backends {
		for _, p := range d.Problems {
			count[key(p)]++
		}
	}
	own = map[string][]doctor.Problem{}
	for _, d := range report.Backends {
		for _, p := range d.Problems {
			switch n := count[key(p)]; {
			case p.Blocks() || n == 1:
				own[d.Name] = append(own[d.Name], p)
			case n > 1:
				machine = append(machine, p)
				count[key(p)] = 0 // listed
			}
		}
	}
	return machine, own
}

// loginWords describes the login and the evidence for it.
func loginWords(d doctor.Diagnosis) string {
	if !d.Installed {
		return ""
	}
	words := map[clispec.LoginState]string{
		clispec.LoginAuthenticated: "logged in",
		clispec.LoginInstalled:     "logged out",
		clispec.LoginUnknown:       "login unknown",
	}[d.Login]
	if d.Evidence != "" {
		words += ": " + terminal.OneLine(d.Evidence)
	}
	return words
}

// windowWords describes the fullest usage window.
func windowWords(d doctor.Diagnosis, now time.Time) string {
	if d.Window == nil || d.Window.Used == nil {
		return ""
	}
	return terminal.OneLine(quotatext.Window(*d.Window, now))
}

func placeWords(d doctor.Diagnosis) string {
	where := d.Path
	if real := d.RealPath(); d.Path != "" && real != d.Path {
		where += " → " + real
	}
	return terminal.OneLine(where + " " + d.Version)
}
