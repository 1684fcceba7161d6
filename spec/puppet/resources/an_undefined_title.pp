notify { $nothing: }
