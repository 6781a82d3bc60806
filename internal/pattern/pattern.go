// Package pattern compiles regular expressions at their first use. Compiling those of all packages at startup would
// take milliseconds in every program that imports them.
package pattern

import (
	"regexp"
	"sync"
)

// Of returns a function that compiles the expression at its first call and returns it. The function is safe for
// concurrent use. It panics like [regexp.MustCompile] if the expression is invalid.
func Of(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
