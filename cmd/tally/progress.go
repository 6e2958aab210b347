package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// progress draws a bar in a terminal, and a line for each tenth elsewhere.
type progress struct {
	out      io.Writer
	terminal bool
	tenth    int
}

func newProgress(out io.Writer) *progress {
	p := &progress{out: out, tenth: -1}
	if f, ok := out.(*os.File); ok {
		st, err := f.Stat()
		p.terminal = err == nil && st.Mode()&os.ModeCharDevice != 0
	}
	return p
}

const barWidth = 30

// step shows how much is done and what there is to say about it.
func (p *progress) step(done, total int, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	tenth := 10 * done / total
	switch {
	case p.terminal:
		full := barWidth * done / total
		fmt.Fprintf(p.out, "\r  [%s%s] %3d%%  %s\x1b[K", strings.Repeat("#", full), strings.Repeat(".", barWidth-full), 100*done/total, text)
		if done == total {
			fmt.Fprintln(p.out)
		}
	case tenth != p.tenth:
		fmt.Fprintf(p.out, "  %3d%%  %s\n", 10*tenth, text)
	}
	p.tenth = tenth
}

// sqlState returns the SQLSTATE of an error of the server; other errors are returned.
func sqlState(err error) (string, error) {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Code, nil
	}
	return "", err
}
