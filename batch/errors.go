package batch

import (
	"errors"

	"github.com/clichain/clichain/batch/internal/disk"
)

// Mistake is an error in the configuration or in a file that it names. The same call fails again until the caller
// corrects it.
type Mistake struct{ Err error }

// Error returns the text of Err.
func (e *Mistake) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *Mistake) Unwrap() error { return e.Err }

var (
	// ErrBudget is the reason for a run that took as long as Config.Budget.
	ErrBudget = errors.New("the time is over")
	// ErrCost is the reason for a run whose records cost Config.MaxCostUSD or more.
	ErrCost = errors.New("the limit for the cost is reached")
	// ErrNobody is the reason for a run that no backend can continue until a person does something, such as to log in.
	ErrNobody = errors.New("no CLI can answer before somebody has done something about it, such as to log in")

	errFinished = errors.New("finished")
)

// asMistake returns a [Mistake] for the error of a file that the batch must not use.
func asMistake(err error) error {
	if _, unusable := errors.AsType[*disk.UnusableError](err); unusable {
		return &Mistake{err}
	}
	return err
}
