def __transformed_code_0_for_f(x, y=3, *args, **kw):
    global count
    a, (b, *rest), c.d = x
    z = [a, *rest, b][1:]
    q = {'k': a, **kw}
    z[0], q['n'] = b, a
    z[1:, None] += 2
    c.e -= a
    if a > 1 and not b:
        t = __compiled_fn_1(a, b)[0]
    elif a is not None:
        t = g(b, *rest, k=1, **kw)
    else:
        raise ValueError(f"no {a} and {b!r}")
    for i, j in enumerate(z):
        if i in rest:
            continue
        while j:
            j = j.sum(dim=-1, keepdim=True)
            break
        else:
            count = i
    del z[0], q
    m = t if a < b else (u := b)
    m.add_(1)
    return (m, u, z[::2, ..., ~0])

#============ end of f ============#
