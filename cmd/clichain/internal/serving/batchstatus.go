package serving

import (
	"errors"
	"fmt"
	"strings"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/batch"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
)

// batchError adds the exit code to an error of a batch.
func batchError(err error) error {
	if _, mistaken := errors.AsType[*batch.Mistake](err); mistaken {
		return console.Fail(console.ExitUsage, err)
	}
	if _, known := errors.AsType[*console.ExitError](err); known {
		return err
	}
	return console.Fail(console.ExitFailed, err)
}

// batchStatus returns an error with the exit code of a finished or stopped batch and a hint how to resume it.
func batchStatus(env *console.Env, cfg *batch.Config, s *batch.Summary) error {
	goOn := "the same command continues the batch"
	if cfg.Out == "-" && cfg.Store == "" {
		goOn = "use -o FILE or --store to be able to continue a batch"
	}
	left := "the rest of the lines is left"
	if n := s.Left(); n >= 0 {
		left = fmt.Sprintf("%d of %d lines are left", n, n+s.Done())
	}
	switch {
	case errors.Is(s.Stopped, batch.ErrBudget):
		return console.Fail(console.ExitTimeout, fmt.Errorf("the budget of %v is over, and %s: %s", cfg.Budget, left, goOn))
	case errors.Is(s.Stopped, batch.ErrCost):
		return console.Fail(console.ExitFailed, fmt.Errorf(
			"the answers have cost %s, of %s, and %s: raise --max-cost-usd, then %s",
			console.Dollars(s.CostUSD), console.Dollars(cfg.MaxCostUSD), left, goOn))
	case errors.Is(s.Stopped, batch.ErrNobody):
		return console.Fail(console.ExitNothing, fmt.Errorf("%w: %s: %s", s.Stopped, left, goOn))
	case s.Stopped != nil:
		fmt.Fprintf(env.Err, "clichain: interrupted: %s: %s\n", left, goOn)
		return console.Fail(console.ExitInterrupted, nil)
	}
	return unanswered(cfg, &s.Counts)
}

// unanswered returns an error if a finished batch has lines without an answer.
func unanswered(cfg *batch.Config, c *batch.Counts) error {
	var said []string
	if c.Failed > 0 {
		text := fmt.Sprintf("%d of %d failed", c.Failed, c.Done())
		if cfg.Out != "-" {
			text += "; --retry-failed runs them again"
		}
		if cfg.Out != "-" && c.Kept > 0 {
			text += fmt.Sprintf("; where the agent may have acted, %d of them, only with --retry-side-effects too", c.Kept)
		}
		said = append(said, text)
	}
	if c.Bad > 0 {
		where := "see above"
		if cfg.Bad != "" {
			where = "see " + cfg.Bad
		} else if cfg.Out != "-" {
			where = "see " + cfg.Out + ".bad.jsonl"
		}
		said = append(said, fmt.Sprintf("%d lines could not be run, %s", c.Bad, where))
	}
	if len(said) == 0 {
		return nil
	}
	return console.Fail(console.ExitFailed, errors.New(strings.Join(said, "; ")))
}

// batchReason returns the reason for the span why a batch has lines without an answer, or "".
func batchReason(s *batch.Summary, err error) string {
	switch {
	case err != nil:
		return "_OTHER"
	case errors.Is(s.Stopped, batch.ErrBudget):
		return string(clichain.ReasonTimeout)
	case s.Stopped != nil:
		return string(clichain.ReasonCanceled)
	case s.Failed > 0:
		return string(clichain.ReasonExit)
	}
	return ""
}
