package clichain

import (
	"cmp"
	"regexp"
	"time"
)

// compiledSpec is a valid spec with its rules compiled, made once for each
// Provider and never changed.
type compiledSpec struct {
	CliSpec
	models  models
	program *program
	lines   lineProgram
	guards  []compiledGuard
}

type compiledGuard struct {
	GuardRule
	re *regexp.Regexp
}

func compileSpec(spec CliSpec) (*compiledSpec, error) {
	if err := spec.Validate(); err != nil {
		return nil, err
	}
	c := &compiledSpec{CliSpec: spec, program: compileProgram(spec.Events), lines: compileLines(spec.Lines)}
	for _, g := range spec.Guards {
		c.guards = append(c.guards, compiledGuard{g, regexp.MustCompile(g.Pattern)})
	}
	var err error
	c.models, err = newModels(&c.CliSpec)
	return c, err
}

// linger is how long the process may go on after its last word.
func (c *compiledSpec) linger() time.Duration {
	return time.Duration(cmp.Or(c.LingerMS, 500)) * time.Millisecond
}
