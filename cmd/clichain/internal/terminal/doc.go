// Package terminal draws a line that changes in place, and fits texts to columns without control characters.
package terminal
