package structured

import "errors"

// With alternatives in a recursive schema, a check can take time exponential in the depth: a few hundred bytes could
// occupy a host for hours. Real schemas and answers are far below these limits.
const (
	stepsBase    = 100_000
	stepsPerByte = 20
)

// ErrTooManySteps is the error of a check that exceeds the limit of [Steps].
var ErrTooManySteps = errors.New("validating it against the schema takes too long")

// Steps limits the number of steps of a check.
type Steps struct{ left int }

// Take counts a step. Beyond the limit it panics, and [Steps.Guard] recovers the panic.
func (s *Steps) Take() {
	if s.left--; s.left < 0 {
		panic(ErrTooManySteps) // no checker panics for another reason
	}
}

// Guard runs the check of a value whose text has size bytes.
func (s *Steps) Guard(size int, check func()) (err error) {
	s.left = stepsBase + stepsPerByte*size
	defer func() {
		if reached := recover(); reached == ErrTooManySteps {
			err = ErrTooManySteps
		} else if reached != nil {
			panic(reached)
		}
	}()
	check()
	return nil
}
