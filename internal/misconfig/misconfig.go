// Package misconfig validates settings.
package misconfig

import (
	"errors"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/clichain/clichain/call"
)

// Merge returns one error that lists all the mistakes, or nil if there are none.
func Merge(field string, mistakes []*call.Error) *call.Error {
	switch len(mistakes) {
	case 0:
		return nil
	case 1:
		return mistakes[0]
	}
	texts := make([]string, len(mistakes))
	for i, m := range mistakes {
		texts[i] = m.Option + ": " + m.Detail()
	}
	err := call.ConfigError(field, Join(mistakes))
	err.Message = strings.Join(texts, "; ")
	return err
}

// Join is [errors.Join] for the mistakes.
func Join(mistakes []*call.Error) error {
	list := make([]error, len(mistakes))
	for i, m := range mistakes {
		list[i] = m
	}
	return errors.Join(list...)
}

// List returns the failed checks, which are the errors that are not nil.
func List(checks ...*call.Error) []*call.Error {
	return slices.DeleteFunc(checks, func(err *call.Error) bool { return err == nil })
}

// Word returns an error if the word is not in the list. The empty word is the default.
func Word[S ~string](field string, word S, words ...S) *call.Error {
	if word == "" || slices.Contains(words, word) {
		return nil
	}
	return call.ConfigErrorf(field, "%q is not one of %q", word, words)
}

// Problem returns an error with the description of a mistake, or nil if it is empty.
func Problem(field, problem string) *call.Error {
	if problem == "" {
		return nil
	}
	return call.ConfigErrorf(field, "%s", problem)
}

// Bound returns an error if the limit is negative or infinite.
func Bound[N int | int64 | float64 | time.Duration](field string, n N) *call.Error {
	if n >= 0 && !math.IsInf(float64(n), 0) {
		return nil
	}
	return call.ConfigErrorf(field, "%v is not a valid limit; use 0 for the default", n)
}
