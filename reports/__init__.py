"""What people read: the command line, the HTML report and its plots.

Nothing is computed or proved here that another room could compute or prove; this room asks, words the
answers with the range on which they hold, and writes them for a reader or, with `--json`, for a script.
"""
