package structured

import "errors"

// A recursive schema with alternatives can make checking an answer take time
// exponential in its depth: some hundred bytes would keep a host busy for
// hours. No real pair of schema and answer comes near these bounds.
const (
	stepsBase    = 100_000
	stepsPerByte = 20
)

// ErrTooManySteps is the error of a check that [Steps] has ended.
var ErrTooManySteps = errors.New("checking it against the schema takes too long")

// Steps ends a check that takes too many steps.
type Steps struct{ left int }

// Take counts a step; beyond the limit it panics, and [Steps.Guard] recovers that.
func (s *Steps) Take() {
	if s.left--; s.left < 0 {
		panic(ErrTooManySteps) // no checker ends otherwise
	}
}

// Guard runs a check of a value whose text has that size.
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
