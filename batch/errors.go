package batch

import (
	"errors"

	"github.com/clichain/clichain/batch/internal/disk"
)

// Mistake is an error in the configuration or in a file that the configuration names. Until the caller corrects the
// error, the same call fails again.
type Mistake struct{ Err error }

// Error returns the text of Err.
func (e *Mistake) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *Mistake) Unwrap() error { return e.Err }

var (
	// ErrBudget is the reason why a run stopped that reached Config.Budget.
	ErrBudget = errors.New("the time budget is used up")
	// ErrCost is the reason why a run stopped whose records cost Config.MaxCostUSD or more.
	ErrCost = errors.New("the cost limit is reached")
	// ErrNobody is the reason why a run stopped that no backend can continue until an operator intervenes, for
	// example by logging in.
	ErrNobody = errors.New("no CLI can answer until you fix the reported problem, for example by logging in")

	errFinished = errors.New("finished")
)

// asMistake returns a [Mistake] if err says that the batch must not use a file. It returns other errors unchanged.
func asMistake(err error) error {
	if _, unusable := errors.AsType[*disk.UnusableError](err); unusable {
		return &Mistake{err}
	}
	return err
}
