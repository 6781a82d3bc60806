// Package input reads the requests of a batch: lines of JSON, JSON arrays, tables, plain text and lines of OpenAI's
// batch API. It tells their format, and makes a job of each line.
package input
