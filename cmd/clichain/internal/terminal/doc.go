// Package terminal draws for people: a line that stays in its place while it changes, and texts that fit, without what
// could move the cursor.
package terminal
