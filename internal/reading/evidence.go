package reading

import (
	"errors"
	"fmt"

	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/jsontext"
	"github.com/clichain/clichain/internal/judge"
	"github.com/clichain/clichain/internal/proc"
)

// Evidence collects all output of the run after its end. skipped is the number of lines that were skipped
// because they were too long.
func (r *Reading) Evidence(result proc.Result, skipped int) *judge.Evidence {
	r.mu.Lock()
	defer r.mu.Unlock()
	ev := &judge.Evidence{
		Output: r.Output, Tally: &r.tally, Secrets: r.Secrets, Result: result, Now: r.now(),
		Stdout: r.whole.String(), Stray: r.stray.String(), Stderr: r.Secrets.CleanDisguised(result.Stderr.Text()),
	}
	if !r.DoubtStderr {
		ev.Said = r.said(ev)
	}
	if ev.Output == clispec.OutputJSON {
		r.readDocument(ev)
	}
	ev.Plain = r.plain(ev.Output, ev.Stray)
	ev.Events = ev.Output == clispec.OutputText && r.printsEvents(ev.Stdout)
	if r.holdsBack() {
		quiet := result.Cause == nil && result.ExitCode == 0 && r.tally.Terminal == nil && len(r.tally.Failures) == 0
		r.showAll(r.remarks.End(quiet)) // the run may have had no terminal event
	}
	if !result.TreeClean {
		r.tally.Warn("processes of the run may be left, because not all could be seen or ended")
	}
	if skipped > 0 {
		r.tally.Warn(fmt.Sprintf("%d lines of output were too long and were skipped", skipped))
	}
	ev.Lost = skipped > 0 || r.broken > 0 || errors.Is(result.Cause, proc.ErrOutputLimit)
	if r.broken > 0 {
		r.tally.Warn(fmt.Sprintf("%d lines of output were broken JSON and were skipped", r.broken))
	}
	return ev
}

// readDocument reads the output of JSON mode. Some CLIs print the document of a failure to stderr.
func (r *Reading) readDocument(ev *judge.Evidence) {
	for _, text := range []string{ev.Stdout, ev.Stderr} {
		for _, object := range jsontext.Objects([]byte(text)) {
			r.deliverAll(r.Program.Events(&r.scratch, object))
		}
		if r.tally.Terminal != nil {
			return
		}
	}
	ev.Stray = ev.Stdout
}
