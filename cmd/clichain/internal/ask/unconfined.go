package ask

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/cmd/clichain/internal/selection"
	"github.com/clichain/clichain/cmd/clichain/internal/terminal"
)

// printUnconfined prints a line for each reason for which runs of a call were not confined, if the settings confine
// what they can. Both resp and failed may be nil.
func printUnconfined(
	w io.Writer, s *selection.Selection, access clichain.Access, resp *clichain.Response, failed *clichain.ChainError,
) {
	auto := s.Config.Confine == "" || s.Config.Confine == call.ConfineAuto
	if !auto || s.Config.Container != nil || access == clichain.AccessFull {
		return
	}
	var reasons []string
	backends := map[string][]string{}
	for _, run := range runsOf(resp, failed) {
		why, unconfined := strings.CutPrefix(run.confined, "no: ")
		if !unconfined {
			continue
		}
		if !slices.Contains(reasons, why) {
			reasons = append(reasons, why)
		}
		if !slices.Contains(backends[why], run.backend) {
			backends[why] = append(backends[why], run.backend)
		}
	}
	for _, why := range reasons {
		fmt.Fprintf(w, "clichain: %s ran unconfined: %s (--confine required refuses such a call, off hides this line)\n",
			strings.Join(backends[why], ", "), terminal.OneLine(why))
	}
}

// confinedRun is a run of a backend and what confined it, as in Response.Confined.
type confinedRun struct{ backend, confined string }

// runsOf lists the runs of a call, in order.
func runsOf(resp *clichain.Response, failed *clichain.ChainError) (list []confinedRun) {
	var attempts []clichain.Attempt
	if resp != nil {
		attempts = resp.Attempts
	}
	if failed != nil {
		attempts = append(slices.Clone(attempts), failed.Attempts...)
	}
	for _, a := range attempts {
		if be, ok := errors.AsType[*clichain.BackendError](a.Err); ok {
			list = append(list, confinedRun{a.Backend, be.Confined})
		}
	}
	if resp != nil {
		list = append(list, confinedRun{resp.Backend, resp.Confined})
	}
	return list
}
