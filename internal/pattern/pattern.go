// Package pattern compiles regular expressions when they are first needed: those of all packages together would take
// every program that imports them milliseconds to start.
package pattern

import (
	"regexp"
	"sync"
)

// Of returns a function that compiles the expression at its first call, and returns it from then on. It is safe for
// concurrent use, and panics like [regexp.MustCompile] where the expression is wrong.
func Of(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
