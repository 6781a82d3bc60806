package structured

import (
	"errors"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// A recursive schema with alternatives can make checking an answer take time
// exponential in its depth: some hundred bytes would keep a host busy for
// hours. No real pair of schema and answer comes near these bounds.
const (
	stepsBase    = 100_000
	stepsPerByte = 20
)

var errTooManySteps = errors.New("checking it against the schema takes too long")

// stepLimit ends a check that takes too many steps. To the validator it is a
// keyword of every part of a schema, so it is called at each step.
type stepLimit struct{ left int }

func (l *stepLimit) vocabulary() *jsonschema.Vocabulary {
	return &jsonschema.Vocabulary{
		URL:     "clichain:///steps",
		Compile: func(*jsonschema.CompilerContext, map[string]any) (jsonschema.SchemaExt, error) { return l, nil },
	}
}

// Validate counts a step; beyond the limit it panics.
func (l *stepLimit) Validate(*jsonschema.ValidatorContext, any) {
	if l.left--; l.left < 0 {
		panic(errTooManySteps) // nothing else ends the validator; guard recovers it
	}
}

// guard runs a check of a document of that size.
func (l *stepLimit) guard(size int, check func() error) (err error) {
	l.left = stepsBase + stepsPerByte*size
	defer func() {
		if reached := recover(); reached == errTooManySteps {
			err = errTooManySteps
		} else if reached != nil {
			panic(reached)
		}
	}()
	return check()
}
