package clispec

import (
	"fmt"
	"iter"
)

// Row is a row of one of the tables args, env and files.
type Row struct {
	Table     string // "args", "env" or "files"
	Index     int
	When      When
	Templates []string
	Each      string // Each of an [ArgRow]
}

// Path returns the path of the row in the spec, such as "env[2]".
func (r Row) Path() string { return fmt.Sprintf("%s[%d]", r.Table, r.Index) }

// Rows iterates over the rows of ArgTable, Env and Files.
func (s *Spec) Rows() iter.Seq[Row] {
	return func(yield func(Row) bool) {
		for i, r := range s.ArgTable() {
			if !yield(Row{"args", i, r.When, r.Args, r.Each}) {
				return
			}
		}
		for i, r := range s.Env {
			if !yield(Row{"env", i, r.When, []string{r.Value}, ""}) {
				return
			}
		}
		for i, r := range s.Files {
			if !yield(Row{"files", i, r.When, []string{r.Content}, ""}) {
				return
			}
		}
	}
}
