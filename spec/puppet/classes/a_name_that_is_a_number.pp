include [5]
