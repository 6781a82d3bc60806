package jsontext

import (
	"iter"
	"strings"
)

// Members are the names and values of a valid JSON object, both as they are in
// its text; of anything else, none.
func Members(object string) iter.Seq2[string, string] {
	return func(yield func(name, value string) bool) {
		i := inside(object, '{')
		for i < len(object) && object[i] == '"' {
			name := object[i:skip(object, i)]
			i = next(object, i+len(name)) // past the colon
			value := object[i:skip(object, i)]
			if !yield(name, value) {
				return
			}
			i = next(object, i+len(value))
		}
	}
}

// Elements are the values in a valid JSON array; of anything else, none.
func Elements(array string) iter.Seq[string] {
	return func(yield func(value string) bool) {
		i := inside(array, '[')
		for i < len(array) && array[i] != ']' {
			value := array[i:skip(array, i)]
			if value == "" || !yield(value) {
				return
			}
			i = next(array, i+len(value))
		}
	}
}

// inside is where the first thing in a container is.
func inside(text string, open byte) int {
	if text == "" || text[0] != open {
		return len(text)
	}
	return next(text, 1)
}

// next skips what is between values.
func next(text string, i int) int {
	for i < len(text) && (blank(text[i]) || text[i] == ',' || text[i] == ':') {
		i++
	}
	return i
}

// skip is where the value that begins at i ends.
func skip(text string, i int) int {
	if i >= len(text) {
		return i
	}
	switch text[i] {
	case '"':
		return skipString(text, i)
	case '{', '[':
		n, _ := Balanced(text[i:])
		return i + n
	}
	for i < len(text) && text[i] > ' ' && text[i] != ',' && text[i] != '}' && text[i] != ']' {
		i++
	}
	return i
}

// Balanced finds where the bracket that text begins with is closed, going by
// brackets and quotes alone: what is between them need not be valid.
func Balanced(text string) (end int, closed bool) {
	depth := 0
	for i := 0; i < len(text); {
		switch text[i] {
		case '"':
			i = skipString(text, i)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		if i++; depth == 0 {
			return i, true
		}
	}
	return len(text), false
}

// skipString looks for quotes only: that is the fastest search there is.
func skipString(text string, i int) int {
	for i++; ; {
		n := strings.IndexByte(text[i:], '"')
		if n < 0 {
			return len(text)
		}
		slashes := 0
		for slashes < n && text[i+n-1-slashes] == '\\' {
			slashes++
		}
		if i += n + 1; slashes%2 == 0 {
			return i
		}
	}
}
