package main

import "io"

// style paints text for a terminal that wants it, and for no other reader.
type style struct{ on bool }

func (a *app) styleOf(w io.Writer) style {
	return style{isTerminal(w) && a.env("NO_COLOR") == "" && a.env("TERM") != "dumb"}
}

func (s style) paint(code, text string) string {
	if !s.on || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (s style) bold(text string) string   { return s.paint("1", text) }
func (s style) dim(text string) string    { return s.paint("2", text) }
func (s style) red(text string) string    { return s.paint("31", text) }
func (s style) green(text string) string  { return s.paint("32", text) }
func (s style) yellow(text string) string { return s.paint("33", text) }
