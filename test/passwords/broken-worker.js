throw new RangeError('This worker cannot be loaded.')
