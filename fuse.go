package clichain

import (
	"errors"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// A recursive schema with alternatives can make checking an answer take time
// exponential in its depth: some hundred bytes would keep a host busy for
// hours. No real pair of schema and answer comes near these bounds.
const (
	fuseBase    = 100_000
	fusePerByte = 20
)

var errFuse = errors.New("checking it against the schema takes too long")

// fuse ends a check that takes too many steps. It is a keyword that every part
// of a schema has without saying so.
type fuse struct{ left int }

func (f *fuse) vocabulary() *jsonschema.Vocabulary {
	return &jsonschema.Vocabulary{
		URL:     "clichain:///fuse",
		Compile: func(*jsonschema.CompilerContext, map[string]any) (jsonschema.SchemaExt, error) { return f, nil },
	}
}

// Validate is called by the validator, at each step.
func (f *fuse) Validate(*jsonschema.ValidatorContext, any) {
	if f.left--; f.left < 0 {
		panic(errFuse) // the validator knows no other way out; guard catches it
	}
}

// guard runs a check of a document of that size.
func (f *fuse) guard(size int, check func() error) (err error) {
	f.left = fuseBase + fusePerByte*size
	defer func() {
		if blown := recover(); blown == errFuse {
			err = errFuse
		} else if blown != nil {
			panic(blown)
		}
	}()
	return check()
}
